import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { loadChangePage } from '#src/inventory/history/changes.ts'
import { loadFirstRead } from '#src/inventory/history/compare-page.ts'
import { insertIdleRuns } from '#test/support/many-rows.ts'
import { openTestStore } from '#test/support/store.ts'

const RUNS_READ = `
  select (seq_tup_read + idx_tup_fetch)::int as read from pg_stat_xact_user_tables where relid = 'ferry.sync_runs'::regclass`

test('what first readings found is looked for among them alone, however many runs there are', async () => {
  await using store = await openTestStore()
  await insertIdleRuns(store.pool, 5_000)
  // A run that added rows is no first reading.
  await store.pool.query('update ferry.sync_runs set added = 2 where id % 2 = 0')
  await store.pool.query('update ferry.sync_runs set added = 5, first_read = 4 where id in (10, 2500, 4999)')
  await store.pool.query('vacuum analyze ferry.sync_runs')
  const pool = new Pool({ connectionString: store.url, max: 1 })
  const readBy = async (work: () => Promise<unknown>, found: unknown) => {
    await pool.query('begin')
    expect(await work()).toEqual(found)
    const { rows } = await pool.query<{ read: number }>(RUNS_READ)
    await pool.query('rollback')
    return rows[0]?.read
  }
  const long = { from: '2000-01-01T00:00:00Z', to: new Date().toISOString() }
  const accounts = ['a0', 'a9']
  const compared = await readBy(() => loadFirstRead(pool, 'alert-rules', long), { rows: 12, accounts })
  expect(compared).toBeLessThan(20)
  const listed = await readBy(async () => {
    const { changes } = await loadChangePage(pool, { kind: 'first reading' }, null, 50)
    return changes.map(({ account, rows }) => [account, rows])
  }, [
    ['a9', 4],
    ['a0', 4],
    ['a0', 4],
  ])
  expect(listed).toBeLessThan(20)
  await pool.end()
})
