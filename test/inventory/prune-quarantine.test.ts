import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { oldQuarantinedRows } from '#src/inventory/old-rows.ts'
import { Quarantine, saveQuarantined } from '#src/inventory/read/quarantine.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { addRun, ageRuns, NEW_RUN } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'

/** A run so many days ago whose listing had these quarantined rows. */
async function addListing(pool: Pool, daysAgo: number, reasons: readonly string[]): Promise<void> {
  const runId = await addRun(pool)
  await ageRuns(pool, `${daysAgo} days`, runId)
  const quarantine = new Quarantine()
  for (const [position, reason] of reasons.entries())
    quarantine.add({ position, id: null, reason, raw: null })
  await inTransaction(pool, client => saveQuarantined(client, { ...NEW_RUN, runId }, quarantine))
}

test('quarantined rows are removed so long after a listing lacked them, those of the latest listing never', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await addListing(pool, 60, ['gone long ago', 'gone lately', 'still there'])
  await addListing(pool, 40, ['gone lately', 'still there'])
  await addListing(pool, 20, ['still there'])
  expect(await removeOld(oldQuarantinedRows(pool, null))).toBe(0)
  expect(await removeOld(oldQuarantinedRows(pool, 30 * DAY_MS))).toBe(1)
  const { rows } = await pool.query('select reason from ferry.quarantined_rows order by reason')
  expect(rows.map(({ reason }) => reason)).toEqual(['gone lately', 'still there'])
})

test.for([500, 501, 1_000])('%i rows are all removed', async count => {
  await using store = await openTestStore()
  const { pool } = store
  await addListing(pool, 60, [])
  await pool.query(
    `insert into ferry.quarantined_rows (run_id, position, reason, fingerprint, until_run)
     select r.id, n, 'no name', gen_random_uuid(), r.id from ferry.sync_runs r, generate_series(1, $1::int) n`,
    [count],
  )
  expect(await removeOld(oldQuarantinedRows(pool, 30 * DAY_MS))).toBe(count)
})
