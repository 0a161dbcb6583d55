import { describe, expect, test } from 'vitest'
import { createKnownRows } from '#src/inventory/read/known-rows.ts'
import { createIdSet } from '#src/inventory/read/listed-rows.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { Resource } from '#src/model/resource.ts'
import { countsOf, type RunResult } from '#src/model/run.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { ageRuns } from '#test/support/runs.ts'
import {
  ended,
  type Listed,
  refused,
  rules,
  scriptedAccount,
  upTo,
  withAccounts,
} from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const LISTED = rules(upTo(20))
const INVENTORY = { account: 'default', resource: 'alert-rules' } as const
const SCOPE = { folders: ['0'], includeAccount: null, keyHash: 'key' }
const LAST = { id: 7n, appliedAt: '2026-11-22 07:00:00+00' }

/** A worker with a memory of its own. Its runs tell how many rows they had to parse, of all their listings. */
function startWorker(harness: FerryHarness, maxRows = 10_000) {
  const knownRows = createKnownRows(maxRows)
  return async (
    list: readonly Listed[],
    {
      account = 'default',
      keyHash = 'key',
      folders = [0n],
      ending = 'a good answer',
      resource = 'alert-rules' as Resource,
    } = {},
  ): Promise<RunResult & { readonly parsed: number }> => {
    let parsed = 0
    const scripted = scriptedAccount(account, () => list, keyHash)
    const { client } = scripted
    const listAlertRules: typeof client.listAlertRules = async function* (...listing) {
      for await (const step of client.listAlertRules(...listing)) {
        if (step.kind === 'rows') parsed += step.rows.filter(({ kind }) => kind !== 'known').length
        if (step.kind === 'ended' && ending === 'a fault') throw new Error('a fault of ours')
        yield step.kind === 'ended' && ending === 'a refusal' ? ended(refused('AccessDenied')) : step
      }
    }
    const context = withAccounts(harness, { ...scripted, client: { ...client, listAlertRules } })
    const request = { account, resource, trigger: 'manual', folders } as const
    const result = await syncInventory({ ...context, knownRows }, request, new AbortController().signal)
    return { ...result, parsed }
  }
}

test('a row that was applied is not parsed again, wherever it is listed, until its text changes', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  expect(await sync(LISTED)).toMatchObject({ parsed: 20, added: 20 })
  expect(await sync(LISTED.toReversed())).toMatchObject({ parsed: 0, unchanged: 20 })
  const changed = LISTED.with(3, { ...LISTED[3]!, firing: true })
  expect(await sync(changed)).toMatchObject({ parsed: 1, unchanged: 20 })
  expect(await sync(changed.toReversed())).toMatchObject({ parsed: 0, unchanged: 20 })
  expect(await sync(LISTED)).toMatchObject({ parsed: 1, unchanged: 20 })
})

test('a row that was removed is parsed when it returns', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  await sync(LISTED)
  expect(await sync(LISTED.slice(1))).toMatchObject({ parsed: 0, removed: 1 })
  expect(await sync(LISTED)).toMatchObject({ parsed: 1, added: 1 })
})

test('nothing is known after another worker applied a run, and all of it after one that failed', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  const other = startWorker(harness)
  await sync(LISTED)
  expect(await other([], { ending: 'a refusal' })).toMatchObject({ status: 'failed' })
  expect(await sync(LISTED.toReversed())).toMatchObject({ parsed: 0 })
  expect(await other(LISTED.slice(1))).toMatchObject({ removed: 1 })
  expect(await sync(LISTED)).toMatchObject({ parsed: 20, added: 1 })
  expect(await other(LISTED.toReversed())).toMatchObject({ parsed: 20 })
})

test('a worker that knows no rows finds the same: what is new, changed, firing and quiet', async () => {
  await using harness = await openFerryHarness(SMALL)
  const counts: unknown[] = []
  for (const [name, firing] of [
    ['first', true],
    ['first', true],
    ['second', false],
    ['second', true],
    ['third', true],
    ['third', false],
  ] as const) {
    await startWorker(harness)([...rules([1], { name, firing }), ...rules([2, 3])])
    const [run] = await harness.query(
      'select added, changed, fired, recovered from ferry.sync_runs order by id desc limit 1',
    )
    counts.push(Object.values(run!))
  }
  expect(counts).toEqual([
    [3, 0, 1, 0],
    [0, 0, 0, 0],
    [0, 1, 0, 1],
    [0, 0, 1, 0],
    [0, 1, 0, 0],
    [0, 0, 0, 1],
  ])
})

test('nothing is known with other folders, with another key, or of another account', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  const others = [{ folders: [1n] }, { keyHash: 'another' }, { account: 'another' }]
  for (const other of others) {
    await sync(LISTED)
    expect(await sync(LISTED.toReversed(), other)).toMatchObject({ parsed: 20 })
  }
  // The other account had memory of its own.
  expect(await sync(LISTED.toReversed())).toMatchObject({ parsed: 0 })
  await sync([], { resource: 'mcp-servers' })
  expect(await sync(LISTED)).toMatchObject({ parsed: 0 })
})

test('a run that is refused teaches nothing and costs nothing; a fault costs what was known', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  await sync(LISTED)
  // So many that some of them are compared before the refusal.
  const more = [...LISTED.toReversed(), ...rules(upTo(2_500).slice(20))]
  const refusal = { ending: 'a refusal' }
  expect(await sync(more, refusal)).toMatchObject({ status: 'failed', parsed: 2_480 })
  expect(await sync(more)).toMatchObject({ status: 'succeeded', parsed: 2_480, added: 2_480 })
  const renamed = [...LISTED.map(row => ({ ...row, name: 'renamed' })), ...more.slice(20)]
  expect(await sync([...renamed, ...rules(upTo(5_000).slice(2_500))], refusal)).toMatchObject({
    status: 'failed',
  })
  expect(await sync(more.toReversed())).toMatchObject({ parsed: 0, unchanged: 2_500 })
  expect(await sync(renamed)).toMatchObject({ parsed: 20, changed: 20 })
  expect(await sync(more)).toMatchObject({ parsed: 20, changed: 20 })
  await expect(sync(LISTED, { ending: 'a fault' })).rejects.toThrow('a fault of ours')
  expect(await sync(more.toReversed())).toMatchObject({ parsed: 2_500, unchanged: 2_500 })
})

test('nothing is known if the last run is another one, or was at another time', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness)
  await sync(LISTED)
  await ageRuns(harness.ferry.pool, '1 hour')
  expect(await sync(LISTED.toReversed())).toMatchObject({ parsed: 20 })

  const known = createKnownRows(10)
  for (const last of [{ ...LAST, id: 8n }, { ...LAST, appliedAt: 'another' }, null]) {
    known.keep(INVENTORY, SCOPE, LAST, createIdSet())
    expect(known.take(INVENTORY, SCOPE, last)).toBeNull()
    expect(known.take(INVENTORY, SCOPE, LAST)).toBeNull()
  }
})

test('only so many rows are known: the inventory that was synced longest ago is forgotten', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness, 50)
  const reversed = LISTED.toReversed()
  for (const account of ['one', 'two']) await sync(LISTED, { account })
  expect(await sync(reversed, { account: 'one' })).toMatchObject({ parsed: 0 })
  await sync(LISTED, { account: 'three' })
  expect(await sync(LISTED, { account: 'one' })).toMatchObject({ parsed: 0 })
  expect(await sync(LISTED, { account: 'three' })).toMatchObject({ parsed: 0 })
  expect(await sync(reversed, { account: 'two' })).toMatchObject({ parsed: 20 })

  const exactly = startWorker(harness, 40)
  for (const account of ['one', 'two']) await exactly(LISTED, { account })
  for (const account of ['one', 'two'])
    expect(await exactly(reversed, { account })).toMatchObject({ parsed: 0 })
  const one = startWorker(harness, 20)
  await one(reversed)
  expect(await one(LISTED)).toMatchObject({ parsed: 0 })
  const none = startWorker(harness, 19)
  for (const rows of [LISTED, reversed]) expect(await none(rows)).toMatchObject({ parsed: 20 })
})

test('an account with too many rows to be known costs the others nothing', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = startWorker(harness, 50)
  const large = rules(upTo(51))
  await sync(LISTED)
  await sync(large, { account: 'large' })
  expect(await sync(large.toReversed(), { account: 'large' })).toMatchObject({ parsed: 51, unchanged: 51 })
  expect(await sync(LISTED.toReversed())).toMatchObject({ parsed: 0, unchanged: 20 })
})

describe('of two rows with one id the same one counts, whatever the worker knows', () => {
  const [known, ...others] = LISTED as [Listed, ...Listed[]]
  const listings: Readonly<Record<string, readonly Listed[]>> = {
    'a new text, then the known one': [{ ...known, name: 'renamed' }, known, ...others],
    'the known text, then a new one': [known, { ...known, name: 'renamed' }, ...others],
    'the known text twice': [known, known, ...others],
    'a row that does not parse, then the known one': [{ ...known, broken: 'with its id' }, known, ...others],
  }
  test.for(Object.entries(listings))('%s', async ([, listing]) => {
    await using harness = await openFerryHarness(SMALL)
    const [warm, cold] = [startWorker(harness), startWorker(harness, 0)]
    await warm(LISTED, { account: 'warm' })
    await cold(LISTED, { account: 'cold' })
    const counts = async (run: ReturnType<typeof warm>) => countsOf(await run)
    const found = await counts(warm(listing, { account: 'warm' }))
    expect(found).toEqual(await counts(cold(listing, { account: 'cold' })))
    expect(found.quarantined).toBeGreaterThan(0)
    expect(await counts(warm(LISTED, { account: 'warm' }))).toEqual(
      await counts(cold(LISTED, { account: 'cold' })),
    )
  })
})

test('of two listings the first is known, which was applied, whether or not the second confirmed it', async () => {
  await using harness = await openFerryHarness(SMALL)
  const less = LISTED.slice(0, -1)
  const renamed = less.with(0, { ...(LISTED[0] as Listed), name: 'renamed' })
  const nameless = [...less, { ...(LISTED[0] as Listed), broken: 'without an id' as const }]
  const listings = [LISTED, renamed, nameless, renamed, less, less]
  const account = scriptedAccount('default', n => listings[n - 1] ?? [])
  const context = { ...withAccounts(harness, account), knownRows: createKnownRows(100) }
  const sync = () => syncInventory(context, { ...INVENTORY, trigger: 'manual' }, new AbortController().signal)
  expect(await sync()).toMatchObject({ added: 20 })
  expect(await sync()).toMatchObject({ status: 'partial', changed: 1, requests: 2 })
  expect(await sync()).toMatchObject({ removed: 1, changed: 0, requests: 2 })
  expect(await sync()).toMatchObject({ changed: 1, unchanged: 18 })
})
