import { expect, test } from 'vitest'
import type { InventoryContext } from '#src/inventory/context.ts'
import { NoSuchSnapshot } from '#src/inventory/history/snapshot-diff.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { listSharedAccounts } from '#src/inventory/platform-accounts.ts'
import { previewSync } from '#src/inventory/publish/preview.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { diffSnapshots } from '#test/support/snapshots.ts'
import {
  currentIds,
  restarted,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

/*
 * Two accounts that see the same ids: two keys for one account of the platform, or two platforms that count alike.
 * Whatever one of them does, the other's rows stay as they are.
 */

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }

test('what one account changes and removes stays as it is in the other', async () => {
  await using harness = await openFerryHarness(SMALL)
  const listed = rules(upTo(20))
  for (const account of ['one', 'two']) await syncListed(harness, [listed], { account })
  const [, ...rest] = listed
  const renamed = rest.map(rule => (rule.id === 2n ? { ...rule, name: 'renamed' } : rule))
  expect(await syncListed(harness, [renamed], { account: 'one' })).toMatchObject({ changed: 1, removed: 1 })
  expect(await currentIds(harness, 'one')).toEqual(upTo(20).slice(1))
  expect(await currentIds(harness, 'two')).toEqual(upTo(20))
  expect(await syncListed(harness, [listed.map(rule => ({ ...rule }))], { account: 'two' })).toMatchObject({
    added: 0,
    changed: 0,
    removed: 0,
    unchanged: 20,
  })
  const names = await harness.query(
    'select account, name from ferry.alert_rules where id = 2 order by account',
  )
  expect(names).toEqual([
    { account: 'one', name: 'renamed' },
    { account: 'two', name: 'rule 2' },
  ])
})

test('that two accounts are one of the platform is known from the rows that they list', async () => {
  await using harness = await openFerryHarness(SMALL)
  const { pool } = harness.ferry
  const names = ['one', 'two']
  await syncListed(harness, [rules([1])], { account: 'one' })
  expect(await listSharedAccounts(pool, names)).toEqual([])
  await syncListed(harness, [rules([2])], { account: 'two' })
  expect(await listSharedAccounts(pool, names)).toEqual([{ accountId: '1', names }])
})

test('a row that only the other account has is new, also to a worker that knows no rows', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules([1, 2])], { account: 'one' })
  await syncListed(harness, [rules([1])], { account: 'two' })
  expect(await syncListed(restarted(harness), [rules([1, 2])], { account: 'two' })).toMatchObject({
    added: 1,
    unchanged: 1,
  })
  expect(await currentIds(harness, 'two')).toEqual([1, 2])
})

test.each([
  ['as it is', (harness: FerryHarness) => harness],
  ['restarted each time', restarted],
] as const)(
  'what fires in one account does not fire in the other, nor does its end there end it here: a worker %s',
  async (_, workerOf) => {
    await using opened = await openFerryHarness(SMALL)
    const harness = workerOf(opened)
    const [quiet, firing] = [rules([1]), rules([1], { firing: true })]
    await syncListed(harness, [firing], { account: 'one' })
    await syncListed(harness, [quiet], { account: 'two' })
    const firingNow = () =>
      harness.query('select account from ferry.alert_rules where triggered order by account')
    expect(await firingNow()).toEqual([{ account: 'one' }])
    await syncListed(harness, [firing], { account: 'two' })
    expect(await firingNow()).toHaveLength(2)
    await syncListed(harness, [quiet], { account: 'one' })
    expect(await firingNow()).toEqual([{ account: 'two' }])
  },
)

test('a preview compares with the rows of its own account', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [rules([1], { name: 'of one' })], { account: 'one' })
  await syncListed(harness, [rules([1], { name: 'of two' })], { account: 'two' })
  const context = withAccounts(
    harness,
    scriptedAccount('one', () => rules([1], { name: 'new' })),
  )
  const preview = await previewSync(context, { account: 'one', resource: 'alert-rules' }, NEVER)
  expect(preview).toMatchObject({
    changed: 1,
    samples: [{ fields: { name: { before: 'of one', after: 'new' } } }],
  })
})

test('whether the servers of an account are those it had is asked of that account alone', async () => {
  await using harness = await openFerryHarness(SMALL)
  const context = withAccounts(
    harness,
    scriptedAccount('one', () => [], 'key', ['a', 'b', 'c']),
    scriptedAccount('two', () => [], 'key', ['a']),
  )
  const sync = (account: string) =>
    syncInventory(context, { account, resource: 'mcp-servers', trigger: 'manual' }, NEVER)
  const first = [await sync('one'), await sync('two')]
  expect(first).toMatchObject([{ added: 3 }, { added: 1 }])
  // A listing of the ids that are stored needs no second one to be believed.
  const again = [await sync('one'), await sync('two')]
  for (const [n, run] of again.entries()) {
    expect(run).toMatchObject({ unchanged: first[n]!.added })
    expect(run.requests).toBeLessThan(first[n]!.requests)
  }
})

test('a snapshot is of one account, and the difference of two shows that account alone', async () => {
  await using harness = await openFerryHarness(SMALL)
  const take = async (account: string, context: InventoryContext) =>
    (await takeSnapshot(context, { account, trigger: 'manual' }, NEVER)).snapshot!
  const accountsOf = (name: string, ids: number[], servers: string[]) =>
    withAccounts(
      harness,
      scriptedAccount(name, () => rules(ids), 'key', servers),
    )
  const before = await take('one', accountsOf('one', [1, 2], ['a']))
  const other = await take('two', accountsOf('two', [1, 2], ['a']))
  const after = await take('one', accountsOf('one', [1, 2, 3], ['a', 'b']))
  await take('two', accountsOf('two', [1, 2, 4, 5], ['a', 'c']))
  expect(await diffSnapshots(harness.ferry.pool, before, after)).toMatchObject([
    { resource: 'alert-rules', change: 'added', id: '3' },
    { resource: 'mcp-servers', change: 'added', id: 'b' },
  ])
  await expect(diffSnapshots(harness.ferry.pool, before, other)).rejects.toThrow(NoSuchSnapshot)
})
