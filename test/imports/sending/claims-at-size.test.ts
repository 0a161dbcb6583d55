import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { openDatabase } from '#src/db/pool.ts'
import { resumeImport } from '#src/imports/control/decide.ts'
import { loadProgress } from '#src/imports/reporting/progress.ts'
import { loadRows } from '#src/imports/sending/batch-in-flight.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { ADA } from '#test/support/acted-by.ts'
import { putEqualBatches } from '#test/support/batches.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { NEVER, recipientsOf } from '../import-harness.ts'

/** Whatever may keep the planner from knowing how large a table is. */
const BLIND = `
  alter table ferry.import_recipients set (autovacuum_enabled = false);
  alter table ferry.import_batches set (autovacuum_enabled = false);
  alter table ferry.import_rejects set (autovacuum_enabled = false);
  set plan_cache_mode = force_generic_plan`

/** Pages of memory that Postgres looks at for one claim of an import. */
async function pagesOfClaim(pool: Pool, client: PoolClient, importId: bigint): Promise<number> {
  const { name, token } = await holdLease(pool, `test:${randomUUID()}`)
  const { rows } = await client.query(
    `explain (analyze, buffers, format json)
     select * from ferry_internal.claim_next_batch(${importId}, '${name}', '${token}', '${randomUUID()}', false,
       'account:test', '{1000000}', '{1000}', 5000, 60000, 1000000, 64, 9, 2000, 500, null, null, null, null)`,
  )
  const [{ Plan: plan }] = rows[0]['QUERY PLAN']
  return plan['Shared Hit Blocks'] + plan['Shared Read Blocks']
}

test('a claim costs the same however many rows have been sent before it', async () => {
  await using store = await openTestStore()
  const client = await store.pool.connect()
  try {
    await client.query(BLIND)
    const few = await stageRows(store.pool, { rows: 10, batchRows: 5, status: 'running', pageId: 1n })
    await pagesOfClaim(store.pool, client, few) // the plans are made now, and kept
    const id = await stageRows(store.pool, { rows: 60_000, batchRows: 20, status: 'running' })
    const first = await pagesOfClaim(store.pool, client, id)
    await putEqualBatches(store.pool, id, { batches: 2_899, rows: 20 })
    const { rows } = await client.query<{ line: string }>(
      'select max(to_line) as line from ferry.import_batches',
    )
    const late = await pagesOfClaim(store.pool, client, id)
    const after = await client.query<{ from_line: string }>(
      'select from_line from ferry.import_batches order by from_line desc limit 1',
    )
    expect(Number(after.rows[0]?.from_line)).toBe(Number(rows[0]?.line) + 1)
    // A few pages more of deeper indexes; reading what was sent would be a thousand.
    expect(late).toBeLessThan(first + 60)
  } finally {
    client.release(true)
  }
})

test('claims, loads, outcomes and looks find every row by an index, whatever the planner knows', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 1 }, { FERRY_IMPORT_LIMIT: '1000/1s' })
  await harness.query(BLIND)
  await harness.query(
    `do $$ begin execute format('alter database %I set plan_cache_mode = force_generic_plan', current_database()); end $$`,
  )
  // So many batches of another page that nobody reads them all because they are few.
  const other = await stageRows(harness.ferry.pool, { rows: 2, status: 'completed', pageId: 1n })
  await putEqualBatches(harness.ferry.pool, other, { batches: 5_000, rows: 1 })
  const id = await stageRows(harness.ferry.pool, { rows: 10_000, batchRows: 250, firstRows: 5_000 })
  harness.sandbox.state.onCall(({ number, body }) => {
    if (number === 3) return { kind: 'error', code: 'EntityTooLarge' }
    if (number === 6) return { kind: 'error', code: 'InternalError' }
    const named = recipientsOf(body).find(recipient => recipient.startsWith('p777'))
    return named ? { kind: 'error', code: 'InvalidParameter', message: `${named} is not valid` } : undefined
  })
  const before = await readRowByRow(harness.query)
  {
    await using database = openDatabase(harness.databaseUrl, pino({ level: 'silent' }))
    const ferry = { ...harness.ferry, pool: database.pool }
    expect(await workImport(ferry, id, { signal: NEVER })).toBe('paused')
    await resumeImport(database.pool, id, ADA)
    expect(await workImport(ferry, id, { signal: NEVER })).toBe('completed')
    await loadProgress(database.pool, id, null)
  }
  // Its connections are closed, and with them what they counted is told.
  const { rejected, ...progress } = (await loadProgress(harness.ferry.pool, id, null)).summary
  expect({ ...progress, missing: 10_000 - progress.sent - rejected }).toMatchObject({
    pending: 0,
    missing: 0,
  })
  expect(rejected).toBeGreaterThan(5)
  expect(await readRowByRow(harness.query)).toEqual(before)
})

test('the rows of a batch are found by the index where the planner knows how many there are in all', async () => {
  await using harness = await openFerryHarness({ rules: 1, servers: 1 })
  const id = await stageRows(harness.ferry.pool, { rows: 60_000, batchRows: 20, status: 'running' })
  await putEqualBatches(harness.ferry.pool, id, { batches: 2_900, rows: 20 })
  await harness.query('analyze ferry.import_recipients, ferry.import_batches')
  // What makes reading everything look cheap, as several processes and millions of rows do.
  await harness.query(
    `do $$ begin execute format('alter database %I set enable_bitmapscan = off', current_database()); end $$`,
  )
  const batches = (await harness.query('select id from ferry.import_batches order by id desc limit 3')) as {
    id: string
  }[]
  const before = await readRowByRow(harness.query)
  {
    await using database = openDatabase(harness.databaseUrl, pino({ level: 'silent' }))
    for (const batch of batches) expect(await loadRows(database.pool, BigInt(batch.id))).toHaveLength(20)
  }
  expect(await readRowByRow(harness.query)).toEqual(before)
})

/** How many rows of the large tables were read in reading through a table. */
async function readRowByRow(query: (sql: string) => Promise<unknown[]>): Promise<unknown[]> {
  await query('select pg_stat_force_next_flush()')
  return query(
    `select relname, seq_tup_read from pg_stat_user_tables
     where relname in ('import_recipients', 'import_batches') order by relname`,
  )
}
