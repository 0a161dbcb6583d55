import { expect, test } from 'vitest'
import { oldRuns } from '#src/inventory/old-rows.ts'
import type { Scope } from '#src/inventory/scope.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { currentIds, rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }
const ALL = rules(upTo(20))
const ONE_LESS = rules(upTo(19))
const [NAMELESS] = rules([30], { broken: 'without an id' })
const NEW = { keyHash: 'another key' }

test('a failed run or a partial one does not make its scope known', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [ALL])
  const [run] = await harness.query<{ scope: Scope }>('select scope from ferry.sync_runs')
  await addRun(harness.ferry.pool, { scope: { ...run!.scope, ...NEW }, end: { status: 'failed' } })
  expect(await syncListed(harness, [[...ONE_LESS, NAMELESS!]], NEW)).toMatchObject({ status: 'partial' })
  expect(await syncListed(harness, [ONE_LESS], NEW)).toMatchObject({
    status: 'succeeded',
    removed: 0,
    requests: 1,
    message: expect.stringContaining('new scope'),
  })
  expect(await syncListed(harness, [ONE_LESS], NEW)).toMatchObject({ removed: 1, message: null })
})

test.each([1, 2])('a key that is replaced before listing %i of a run ends removes nothing', async nth => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [ALL])
  let keyHash = 'key'
  const script = (n: number) => {
    if (n === nth) keyHash = NEW.keyHash
    return ONE_LESS
  }
  const account = { ...scriptedAccount('default', script), get keyHash() { return keyHash } } // biome-ignore format: short
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const sync = () => syncInventory(withAccounts(harness, account), request, NEVER)
  expect(await sync()).toMatchObject({
    status: 'partial',
    removed: 0,
    message: expect.stringContaining(
      nth === 1 ? 'the app_key was replaced' : 'the second listing was not complete',
    ),
  })
  expect(await sync()).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await sync()).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('a held run makes its scope known: what led to it may be long gone from the ledger', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [ALL])
  await syncListed(harness, [ALL], NEW)
  expect(await syncListed(harness, [rules([1])], NEW)).toMatchObject({ status: 'held' })
  await ageRuns(harness.ferry.pool, '91 days')
  expect(await removeOld(oldRuns(harness.ferry.pool, 90 * DAY_MS))).toBe(1)
  // In a new scope nothing would be held.
  expect(await syncListed(harness, [ONE_LESS], NEW)).toMatchObject({ status: 'held' })
})

test('what one account has seen in a scope says nothing about another account', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [ALL], { account: 'one' })
  await syncListed(harness, [ALL], { account: 'two' })
  await syncListed(harness, [ALL], { account: 'one', ...NEW })
  expect(await syncListed(harness, [ONE_LESS], { account: 'two', ...NEW })).toMatchObject({ removed: 0 })
  expect(await currentIds(harness, 'two')).toEqual(upTo(20))
})

test('while two keys take turns, what only one of them sees is not removed', async () => {
  await using harness = await openFerryHarness(SMALL)
  for (const keyHash of ['key', 'key']) await syncListed(harness, [ONE_LESS], { keyHash })
  for (let turn = 1; turn <= 2; turn++) {
    await syncListed(harness, [ALL], NEW)
    expect(await syncListed(harness, [ONE_LESS])).toMatchObject({ removed: 0, requests: 1 })
  }
  // Nor until the other one has not come between for long.
  const [NOT_READ] = rules([40], { broken: 'without an id' })
  await syncListed(harness, [[...ALL, NOT_READ!]], NEW)
  for (let run = 1; run <= 19; run++) {
    expect(await syncListed(harness, [ONE_LESS])).toMatchObject({ removed: 0 })
  }
  // Another account's key says nothing of these.
  await syncListed(harness, [ALL], { account: 'other', ...NEW })
  expect(await syncListed(harness, [ONE_LESS])).toMatchObject({ removed: 1 })
})

test('an acceptance of removals does not reach into a new scope, where less may be seen', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [ALL])
  const accepted = { ...NEW, acceptRemovals: true }
  expect(await syncListed(harness, [ONE_LESS], accepted)).toMatchObject({ removed: 0, requests: 1 })
  expect(await syncListed(harness, [ONE_LESS], accepted)).toMatchObject({ removed: 1 })
})

test('folders asked for in another order, or twice, are the same scope; 0 among others is all of them', async () => {
  await using harness = await openFerryHarness(SMALL)
  const inTwo = [...ALL, ...rules([31, 32], { folder: 2n })]
  await syncListed(harness, [inTwo], { folders: [1n, 2n] })
  expect(
    await syncListed(harness, [inTwo.filter(rule => rule.id !== 31n)], { folders: [2n, 1n, 2n] }),
  ).toMatchObject({ removed: 1, requests: 4 })
  await syncListed(harness, [inTwo], { folders: [0n] })
  expect(
    await syncListed(harness, [inTwo.filter(rule => rule.id !== 32n)], { folders: [1n, 0n] }),
  ).toMatchObject({ removed: 1, requests: 2 })
})
