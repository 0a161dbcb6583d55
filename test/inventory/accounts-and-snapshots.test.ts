import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { NoSuchSnapshot } from '#src/inventory/history/snapshot-diff.ts'
import { loadSnapshotPage } from '#src/inventory/history/snapshot-page.ts'
import { takeSnapshot } from '#src/inventory/history/snapshots.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { leasesOf } from '#test/support/leases.ts'
import { diffSnapshots } from '#test/support/snapshots.ts'

const NEVER = new AbortController().signal

/** Ferry with the accounts given, on the harness's database and sandbox. */
async function openWithAccounts(harness: FerryHarness, accounts: Record<string, unknown>[]) {
  const directory = await mkdtemp(join(tmpdir(), 'ferry-accounts-'))
  const file = join(directory, 'accounts.json')
  const env: Record<string, string> = { FERRY_BASE_URL: '', FERRY_APP_KEY: '', FERRY_ACCOUNTS_FILE: file }
  const written = accounts.map(({ key, ...account }) => {
    env[`KEY_OF_${account.name}`] = `${key}`
    return { baseUrl: harness.sandbox.baseUrl, appKeyEnv: `KEY_OF_${account.name}`, ...account }
  })
  await writeFile(file, JSON.stringify({ accounts: written }))
  try {
    return await harness.openFerry(env)
  } finally {
    await rm(directory, { recursive: true })
  }
}

test('accounts keep to their own rows, keys and limits', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.state.addKey({ key: 'key-of-the-other', accountId: 77n })
  harness.sandbox.state.addRule({ account_id: 77n })
  const ferry = await openWithAccounts(harness, [
    { name: 'one', key: harness.sandbox.appKey },
    { name: 'two', key: 'key-of-the-other' },
  ])
  const request = { resource: 'alert-rules', trigger: 'manual' } as const
  const one = await syncInventory(ferry, { ...request, account: 'one' }, NEVER)
  const two = await syncInventory(ferry, { ...request, account: 'two' }, NEVER)
  expect([one.status, two.status]).toEqual(['succeeded', 'succeeded'])
  const rows = await harness.query(
    'select account, count(*)::int as rules from ferry.alert_rules group by 1 order by 1',
  )
  expect(rows).toEqual([
    { account: 'one', rules: one.added },
    { account: 'two', rules: two.added },
  ])
  expect(await harness.query('select distinct limit_key from ferry.platform_calls order by 1')).toEqual([
    { limit_key: 'account:one' },
    { limit_key: 'account:two' },
  ])
})

test('accounts of one limit group share one limit, for calls that are counted by key too', async () => {
  await using harness = await openFerryHarness({ rules: 5 })
  harness.sandbox.state.addKey({ key: 'the-on-call-key' })
  const ferry = await openWithAccounts(harness, [
    { name: 'monitoring', key: harness.sandbox.appKey, limitGroup: 'acme' },
    { name: 'oncall', key: 'the-on-call-key', limitGroup: 'acme' },
  ])
  for (const account of ['monitoring', 'oncall']) {
    for (const resource of ['alert-rules', 'mcp-servers'] as const) {
      await syncInventory(ferry, { account, resource, trigger: 'manual' }, NEVER)
    }
  }
  const keys = await harness.query<{ operation: string; keys: number }>(
    'select operation, count(distinct limit_key)::int as keys from ferry.platform_calls group by 1 order by 1',
  )
  expect(keys).toEqual([
    { operation: 'list-alert-rules', keys: 1 },
    { operation: 'list-mcp-servers', keys: 1 },
  ])
})

test('accounts that are one on the platform are told to share a limit, unless they do', async () => {
  await using harness = await openFerryHarness({ rules: 2 })
  for (const key of ['second', 'third', 'fourth']) harness.sandbox.state.addKey({ key })
  const ferry = await openWithAccounts(harness, [
    { name: 'one', key: harness.sandbox.appKey, limitGroup: 'acme' },
    { name: 'two', key: 'second', limitGroup: 'acme' },
    { name: 'three', key: 'third' },
  ])
  const warnings: object[] = []
  const log = pino({ level: 'warn' }, { write: line => warnings.push(JSON.parse(line)) })
  const sync = (account: string) =>
    syncInventory({ ...ferry, log }, { account, resource: 'alert-rules', trigger: 'manual' }, NEVER)
  // An account of an earlier configuration.
  await harness.sync()
  await sync('one')
  await sync('two')
  expect(warnings).toEqual([])
  await sync('three')
  expect(warnings).toMatchObject([
    { account: 'three', others: ['one', 'two'], msg: expect.stringContaining('Give them one limitGroup') },
  ])
})

test('a snapshot names an instant; the difference between two tells what was added, changed and removed', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 10 })
  const before = await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  expect(before).toMatchObject({ status: 'succeeded', account: 'default' })
  const [changed, removed] = harness.sandbox.state.rules.rows()
  harness.sandbox.state.changeRule(changed!.id, { name: 'renamed', triggered: !changed!.triggered })
  harness.sandbox.state.removeRule(removed!.id)
  const server = harness.sandbox.state.addServer({ server_name: 'fresh' })
  const after = await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  expect(await diffSnapshots(harness.ferry.pool, before.snapshot!, after.snapshot!)).toEqual([
    {
      account: 'default',
      rows: null,
      resource: 'alert-rules',
      change: 'changed',
      id: `${changed!.id}`,
      name: 'renamed',
      folder: `${changed!.folder_id}`,
      by: expect.any(String),
      fields: expect.arrayContaining(['name']),
      before: expect.stringContaining(JSON.stringify(changed!.name)),
      after: expect.stringContaining('"renamed"'),
    },
    {
      account: 'default',
      rows: null,
      resource: 'alert-rules',
      change: 'removed',
      id: `${removed!.id}`,
      name: removed!.name,
      folder: `${removed!.folder_id}`,
      by: null,
      fields: [],
      before: null,
      after: null,
    },
    {
      account: 'default',
      rows: null,
      resource: 'mcp-servers',
      change: 'added',
      id: server.server_id,
      name: 'fresh',
      folder: `${server.team_id}`,
      by: null,
      fields: [],
      before: null,
      after: null,
    },
  ])
  expect(await diffSnapshots(harness.ferry.pool, after.snapshot!, after.snapshot!)).toEqual([])
  await expect(diffSnapshots(harness.ferry.pool, after.snapshot!, 99n)).rejects.toThrow(NoSuchSnapshot)
})

test('a snapshot of a held run says so, and a failed run leaves none', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 10 })
  await harness.sync()
  harness.sandbox.state.replaceRulesBody('[]')
  expect(await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)).toMatchObject({
    status: 'held',
  })
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { operation: 'list-alert-rules' })
  const failed = await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  expect(failed).toMatchObject({ status: 'failed', snapshot: null })
  expect((await loadSnapshotPage(harness.ferry.pool, {}, null, 10)).map(snapshot => snapshot.status)).toEqual(
    ['held'],
  )
})

test('one slot has one snapshot, however often it is taken', async () => {
  await using harness = await openFerryHarness({ rules: 3, servers: 3 })
  const request = { account: 'default', trigger: 'schedule', slot: new Date('2026-01-01T03:30:00Z') } as const
  const first = await takeSnapshot(harness.ferry, request, NEVER)
  const again = await takeSnapshot(harness.ferry, request, NEVER)
  expect(first.snapshot).not.toBeNull()
  expect(again).toMatchObject({ snapshot: null, status: 'succeeded' })
  expect(await loadSnapshotPage(harness.ferry.pool, {}, null, 10)).toHaveLength(1)
})

test('a snapshot waits for its turn where a poll is under way', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 10 })
  harness.sandbox.state.inject({ kind: 'late', ms: 700 }, { operation: 'list-alert-rules', nth: 1 })
  const poll = harness.sync()
  await expect.poll(() => leasesOf(harness.ferry.pool)).toHaveLength(1)
  const snapshot = await takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  expect(await poll).toMatchObject({ status: 'succeeded', added: 30 })
  expect(snapshot).toMatchObject({ status: 'succeeded' })
  expect(snapshot.runs[0]).toMatchObject({ status: 'succeeded', unchanged: 30 })
})

test('of its two runs the worse one says what a snapshot is: none if one failed, whatever became of the other', async () => {
  await using harness = await openFerryHarness({ rules: 30, servers: 10 })
  const take = () => takeSnapshot(harness.ferry, { account: 'default', trigger: 'manual' }, NEVER)
  expect(await take()).toMatchObject({ status: 'succeeded' })
  harness.sandbox.state.replaceRulesBody('[]')
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { operation: 'list-mcp-servers' })
  const result = await take()
  expect(result.runs.map(run => run.status)).toEqual(['held', 'failed'])
  expect(result).toMatchObject({ status: 'failed', snapshot: null })
  expect(await harness.query('select 1 from ferry.snapshots')).toHaveLength(1)
})
