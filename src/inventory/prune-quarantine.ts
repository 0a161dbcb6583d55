import type { Pool } from 'pg'
import { type OldRows, rowsOlderThan } from '#src/db/prune.ts'
import { countOf, onlyRow } from '#src/db/rows.ts'

/** A row may have a megabyte. */
const BATCH_ROWS = 500

/** Returns the quarantined rows that were last listed long ago. Those that the latest listing had stay, however old they are. */
export function oldQuarantinedRows(pool: Pool, keepMs: number | null): OldRows {
  return rowsOlderThan(
    pool,
    keepMs,
    'ferry.quarantined_rows',
    async ago => {
      const sum = `select count(*)::int as rows from ferry.quarantined_rows q where ${IS_OLD}`
      const { rows } = await pool.query<{ rows: number }>(sum, [ago])
      return onlyRow(rows, 'the count of quarantined rows').rows
    },
    ago => async () => {
      const removed = countOf(await pool.query(REMOVE, [ago, BATCH_ROWS]))
      return { removed, isLast: removed < BATCH_ROWS }
    },
  )
}

/** A row ended with the run that did not list it any more; one without a fingerprint counts for its own run only. */
const IS_OLD = `
  (q.until_run is not null or q.fingerprint is null)
  and not exists (
    select from ferry.sync_runs r where r.id = coalesce(q.until_run, q.run_id)
      and (r.finished_at is null or r.finished_at >= $1::timestamptz))`

const REMOVE = `
  delete from ferry.quarantined_rows where ctid = any (array(
    select q.ctid from ferry.quarantined_rows q where ${IS_OLD} order by q.run_id limit $2::int))`
