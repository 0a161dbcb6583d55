import type { Pool } from 'pg'
import { describe, expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import { prune as pruneJob } from '#jobs/prune.ts'
import { pruneCalls } from '#src/db/prune-calls.ts'
import { pruneRuns } from '#src/inventory/prune.ts'
import { pruneSlots } from '#src/schedules/prune.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

async function idsOf(pool: Pool, table: string, column = 'id'): Promise<string[]> {
  const { rows } = await pool.query(`select ${column}::text as id from ferry.${table} order by 1`)
  return rows.map(row => row.id)
}

/** A run that ended so many days ago. */
async function addRun(pool: Pool, daysAgo: number, fields: Record<string, unknown> = {}): Promise<string> {
  const row = {
    account: 'default',
    resource: 'alert-rules',
    trigger: 'schedule',
    scope: '{"folders":["0"]}',
    guard: '10,20%',
    fingerprint_version: 1,
    status: 'succeeded',
    started_at: ago(daysAgo),
    applied_at: ago(daysAgo),
    finished_at: ago(daysAgo),
    ...fields,
  }
  return insert(pool, 'sync_runs', row)
}

async function insert(pool: Pool, table: string, row: Record<string, unknown>): Promise<string> {
  const columns = Object.keys(row)
  const { rows } = await pool.query(
    `insert into ferry.${table} (${columns}) values (${columns.map((_, i) => `$${i + 1}`)}) returning *`,
    Object.values(row),
  )
  return rows[0].id
}

function ago(days: number): Date {
  return new Date(Date.now() - days * 86_400_000)
}

describe('old runs that changed nothing', () => {
  test('are removed with the rows they set aside; younger ones stay', async () => {
    await using db = await openTestStore()
    const old = await addRun(db.pool, 91, { quarantined: 1 })
    const young = await addRun(db.pool, 89, { quarantined: 1 })
    const latest = await addRun(db.pool, 0)
    for (const run of [old, young]) {
      await insert(db.pool, 'quarantined_rows', { run_id: run, position: 0, reason: 'no name' })
    }
    expect(await pruneRuns(db.pool)).toMatchObject({ runs: 1, quarantined: 1 })
    expect(await idsOf(db.pool, 'sync_runs')).toEqual([young, latest])
    expect(await idsOf(db.pool, 'quarantined_rows', 'run_id')).toEqual([young])
  })

  test('stay if they are the latest complete one of their scope', async () => {
    await using db = await openTestStore()
    const latestOfFolder = await addRun(db.pool, 200, { scope: '{"folders":["7"]}' })
    await addRun(db.pool, 200)
    const latestComplete = await addRun(db.pool, 100)
    const partial = await addRun(db.pool, 95, { status: 'partial' })
    await addRun(db.pool, 95, { status: 'failed', applied_at: null })
    await pruneRuns(db.pool)
    expect(await idsOf(db.pool, 'sync_runs')).toEqual([latestOfFolder, latestComplete, partial])
  })

  test.for([
    ['that added rows', { added: 1 }],
    ['that changed rows', { changed: 1 }],
    ['that removed rows', { removed: 1 }],
    ['that saw a rule fire', { fired: 1 }],
    ['that saw a rule recover', { recovered: 1 }],
    ['that never ended', { finished_at: null, status: 'running' }],
  ] as const)('stay %s', async ([, fields]) => {
    await using db = await openTestStore()
    const run = await addRun(db.pool, 200, fields)
    const later = await addRun(db.pool, 0)
    await pruneRuns(db.pool)
    expect(await idsOf(db.pool, 'sync_runs')).toEqual([run, later])
  })

  test.for([
    [
      'a snapshot',
      'snapshots',
      { taken_at: ago(200), status: 'succeeded', mcp_servers_run: 0 },
      'alert_rules_run',
    ],
    ['a firing', 'alert_rule_firings', { id: 1, began: ago(200), began_run: 0 }, 'ended_run'],
    ['a hold', 'removal_holds', { resource: 'alert-rules', ids: ['1'], opened_by_run: 0 }, 'last_run'],
    ['a new field', 'contract_drift', { resource: 'alert-rules', field: 'x', type: 'text' }, 'first_run'],
    ['an account id', 'platform_accounts', { account_id: 1 }, 'first_run'],
  ] as const)('stay if %s names them', async ([, table, fields, column]) => {
    await using db = await openTestStore()
    const run = await addRun(db.pool, 200)
    const later = await addRun(db.pool, 0)
    await insert(db.pool, table, { account: 'default', ...fields, [column]: run })
    await pruneRuns(db.pool)
    expect(await idsOf(db.pool, 'sync_runs')).toEqual([run, later])
  })

  test('stay if a version names them', async () => {
    await using harness = await openFerryHarness({ rules: 3 })
    const { run } = await harness.sync()
    const before = ago(200)
    await harness.query('update ferry.sync_runs set added = 0, finished_at = $1', [before])
    await harness.sync({ resource: 'alert-rules' })
    await pruneRuns(harness.ferry.pool)
    expect(await harness.query('select id from ferry.sync_runs where id = $1', [run])).toHaveLength(1)
  })
})

test('old calls are removed, younger ones and those of imports stay', async () => {
  await using db = await openTestStore()
  const call = { limit_key: 'account:default', account: 'default', operation: 'list-alert-rules' }
  await insert(db.pool, 'platform_calls', { ...call, started: ago(91), counted_by: ago(91) })
  const young = await insert(db.pool, 'platform_calls', { ...call, started: ago(89), counted_by: ago(89) })
  const imported = { ...call, operation: 'import-subscribers', batch_id: 1 }
  const kept = await insert(db.pool, 'platform_calls', { ...imported, started: ago(91), counted_by: ago(91) })
  expect(await pruneCalls(db.pool)).toBe(1)
  expect(await idsOf(db.pool, 'platform_calls')).toEqual([young, kept])
})

test('old slots are removed, done or left lying, except the latest of each schedule', async () => {
  await using db = await openTestStore()
  const slot = (schedule: string, daysAgo: number, fields: object) =>
    insert(db.pool, 'schedule_slots', { account: 'default', schedule, slot: ago(daysAgo), ...fields })
  await slot('poll', 40, { done_at: ago(40) })
  await slot('poll', 35, { retry_at: ago(35) })
  await slot('poll', 1, { done_at: ago(1) })
  await slot('monthly', 45, { done_at: ago(45) })
  expect(await pruneSlots(db.pool)).toBe(2)
  expect(await idsOf(db.pool, 'schedule_slots', 'schedule')).toEqual(['monthly', 'poll'])
})

test('is a job that runs once a day for all accounts, and may run twice', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  await harness.sync()
  const call = { account: '*', trigger: 'schedule' } as const
  const never = new AbortController().signal
  const signals = { signal: never, cutOff: never }
  expect(await pruneJob.run(harness.ferry, call, signals)).toEqual({ status: 'succeeded' })
  expect(await pruneJob.run(harness.ferry, call, signals)).toEqual({ status: 'succeeded' })
  expect(await harness.query('select id from ferry.sync_runs')).toHaveLength(1)
  expect(JOBS).toContain(pruneJob)
})

test('the job also purges imports that ended a month ago, and discards stagings nobody confirmed', async () => {
  await using harness = await openFerryHarness()
  const { pool } = harness.ferry
  const [ended, staged] = [
    await stageRows(pool, { status: 'completed' }),
    await stageRows(pool, { status: 'staging' }),
  ]
  await stageRows(pool)
  await harness.query('update ferry.imports set finished_at = $1 where id = $2', [ago(31), ended])
  await harness.query('update ferry.imports set created_at = $1 where id = $2', [ago(2), staged])
  const never = new AbortController().signal
  const call = { account: '*', trigger: 'schedule' }
  await pruneJob.run(harness.ferry, call, { signal: never, cutOff: never })
  expect(
    await harness.query('select id, purged_at is not null as purged from ferry.imports order by id'),
  ).toEqual([
    { id: `${ended}`, purged: true },
    { id: '3', purged: false },
  ])
})
