import type { Pool } from 'pg'
import { type OldRows, rowsOlderThan } from './prune.ts'
import { countOf, onlyRow } from './rows.ts'

/** Events removed in one transaction. */
const BATCH_ROWS = 5_000

/** Returns the old events. One that is open stays, however old: it would be raised again. */
export function oldEvents(pool: Pool, keepMs: number | null): OldRows {
  return rowsOlderThan(
    pool,
    keepMs,
    'ferry.events',
    async ago => {
      const { rows } = await pool.query<{ events: number }>(
        'select count(*)::int as events from ferry.events where at < $1 and not is_open',
        [ago],
      )
      return onlyRow(rows, 'the count of old events').events
    },
    ago => async () => {
      const removed = countOf(
        await pool.query(
          `delete from ferry.events where id in (
             select id from ferry.events where at < $1 and not is_open order by id limit $2)`,
          [ago, BATCH_ROWS],
        ),
      )
      return { removed, isLast: removed < BATCH_ROWS }
    },
  )
}
