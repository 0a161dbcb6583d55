import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { closeVersions } from '#src/inventory/publish/versions.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { ALERT_RULE_VERSIONS } from '#src/inventory/versioned-tables.ts'
import type { RunResult } from '#src/model/run.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { diffSnapshots } from '#test/support/snapshots.ts'
import { currentIds, rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

/*
 * What is kept of one inventory says nothing about another: of another account, resource or folder, or of an earlier time.
 */

const NEVER = new AbortController().signal
const SMALL = { rules: 0, servers: 0 }
const FOLDER_1 = { folders: [1n] }
const BOTH_FOLDERS = [...rules(upTo(20)), ...rules(upTo(40).slice(20), { folder: 2n })]

/** Stores these rules of the account, then has the removal of all but the first five held; returns the held run's id. */
async function holdMost(harness: FerryHarness, account: string): Promise<bigint> {
  await syncListed(harness, [rules(upTo(20))], { account })
  const held = await syncListed(harness, [rules(upTo(5))], { account })
  expect(held.status).toBe('held')
  return held.run
}

/** Syncs the MCP servers of the account `default`, which lists these. */
function syncServers(harness: FerryHarness, ids: readonly string[]): Promise<RunResult> {
  const account = scriptedAccount('default', () => [], 'key', ids)
  const request = { account: 'default', resource: 'mcp-servers', trigger: 'manual' } as const
  return syncInventory(withAccounts(harness, account), request, NEVER)
}

test('a hold in one account leaves the hold of another open, whatever folders that was for', async () => {
  await using harness = await openFerryHarness(SMALL)
  await holdMost(harness, 'one')
  await syncListed(harness, [BOTH_FOLDERS], { account: 'two', ...FOLDER_1 })
  const held = await syncListed(harness, [rules(upTo(5))], { account: 'two', ...FOLDER_1 })
  expect(held.status).toBe('held')
  expect(
    await harness.query('select account from ferry.removal_holds where ended_at is null order by account'),
  ).toEqual([{ account: 'one' }, { account: 'two' }])
})

test('a hold that a later run brought up to date is approved by that run too', async () => {
  await using harness = await openFerryHarness(SMALL)
  await holdMost(harness, 'default')
  const again = await syncListed(harness, [rules(upTo(6))])
  expect(again.status).toBe('held')
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => rules(upTo(6))),
  )
  expect(await approveRun(context, again.run, ADA, NEVER)).toMatchObject({ status: 'succeeded', removed: 14 })
})

test('a run whose hold has ended approves no hold of the other resource', async () => {
  await using harness = await openFerryHarness(SMALL)
  const ids = upTo(20).map(id => `s${id}`)
  const servers = (count: number) => syncServers(harness, ids.slice(0, count))
  await servers(20)
  expect(await servers(5)).toMatchObject({ status: 'held' })
  const run = await holdMost(harness, 'default')
  expect(await servers(5)).toMatchObject({ status: 'held' })
  await syncListed(harness, [rules(upTo(20))])
  await expect(approveRun(harness.ferry, run, ADA, NEVER)).rejects.toThrow(NothingToApprove)
})

test('a rejected removal keeps no rows of another account', async () => {
  await using harness = await openFerryHarness(SMALL)
  await rejectRun(harness.ferry, await holdMost(harness, 'one'), ADA)
  await holdMost(harness, 'two')
})

test('a rejected removal keeps no rows of the other resource', async () => {
  await using harness = await openFerryHarness(SMALL)
  const numbers = upTo(20).map(String)
  const servers = (count: number) => syncServers(harness, numbers.slice(0, count))
  await rejectRun(harness.ferry, await holdMost(harness, 'default'), ADA)
  await servers(20)
  expect(await servers(5)).toMatchObject({ status: 'held' })
})

test('a complete listing of one folder leaves the rejection of a removal in all folders as it is', async () => {
  await using harness = await openFerryHarness(SMALL)
  const folder1 = BOTH_FOLDERS.slice(0, 20)
  await syncListed(harness, [BOTH_FOLDERS])
  await syncListed(harness, [BOTH_FOLDERS], FOLDER_1)
  const held = await syncListed(harness, [folder1])
  await rejectRun(harness.ferry, held.run, ADA)
  await syncListed(harness, [folder1], FOLDER_1)
  expect(await syncListed(harness, [folder1])).toMatchObject({ status: 'succeeded', removed: 0 })
  expect(await currentIds(harness)).toHaveLength(40)
})

test('a run in one folder says of how many rows of that folder some are gone', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [BOTH_FOLDERS])
  await syncListed(harness, [BOTH_FOLDERS], FOLDER_1)
  const held = await syncListed(harness, [rules(upTo(5))], FOLDER_1)
  expect(held.message).toContain('15 of 20 rows')
})

test('a run that is interrupted counts the requests it made, not those of runs before it', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  await harness.sync()
  const stop = new AbortController()
  const account = scriptedAccount('default', () => {
    stop.abort()
    stop.signal.throwIfAborted()
    return []
  })
  const request = { account: 'default', resource: 'alert-rules', trigger: 'manual' } as const
  const run = await syncInventory(withAccounts(harness, account), request, stop.signal)
  expect(run).toMatchObject({ status: 'failed', errorCode: 'Interrupted', requests: 0 })
})

test('an episode of a firing that has ended keeps its end when a later one ends', async () => {
  await using harness = await openFerryHarness(SMALL)
  const ends = () =>
    harness.query<{ ended: Date | null }>('select ended from ferry.alert_rule_firings order by began')
  const [quiet, firing] = [rules([1]), rules([1], { firing: true })]
  for (const listed of [firing, quiet]) await syncListed(harness, [listed])
  const [first] = await ends()
  for (const listed of [firing, quiet]) await syncListed(harness, [listed])
  expect(await ends()).toEqual([first, { ended: expect.any(Date) }])
})

test('a listing of the servers there are now is believed at once, whatever servers there were before', async () => {
  await using harness = await openFerryHarness(SMALL)
  const sync = (ids: readonly string[]) => syncServers(harness, ids)
  await sync(['a', 'b', 'c'])
  const twice = await sync(['a', 'b'])
  const once = await sync(['a', 'b'])
  expect([twice.removed, once.removed]).toEqual([1, 0])
  expect(once.requests).toBeLessThan(twice.requests)
})

test('a snapshot is compared by the versions of its own account, and what changed and changed back is no difference', async () => {
  await using harness = await openFerryHarness(SMALL)
  const take = async (account: string, ruleNames: readonly string[]) => {
    const listed = ruleNames.flatMap((name, n) => rules([n + 1], { name }))
    const context = withAccounts(
      harness,
      scriptedAccount(account, () => listed),
    )
    return (await takeSnapshot(context, { account, trigger: 'manual' }, NEVER)).snapshot!
  }
  const before = await take('one', ['old', 'same'])
  await take('two', ['of two', 'of two'])
  await take('one', ['old', 'for a while'])
  await take('one', ['new', 'same'])
  await take('two', ['of two again', 'of two again'])
  const after = await take('one', ['new', 'same'])
  expect(await diffSnapshots(harness.ferry.pool, before, after)).toMatchObject([
    {
      resource: 'alert-rules',
      change: 'changed',
      id: '1',
      fields: ['name'],
      before: '{"name": "old"}',
      after: '{"name": "new"}',
    },
  ])
})

test('a version that is to be closed and is not there stops the run: nothing of it is applied', async () => {
  await using harness = await openFerryHarness(SMALL)
  const run = { account: 'default', runId: 1n, at: '2026-01-01T00:00:00Z' }
  const close = inTransaction(harness.ferry.pool, client =>
    closeVersions(client, ALERT_RULE_VERSIONS, run, ['1']),
  )
  await expect(close).rejects.toThrow('1 version was to be closed')
})
