import type { Pool } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { loadAgo, type OldRows, rowsOlderThan } from '#src/db/prune.ts'
import { countOf, onlyRow } from '#src/db/rows.ts'
import { ALERT_RULE_VERSIONS, MCP_SERVER_VERSIONS } from './versioned-tables.ts'

/*
 * Versions and firings that ended long ago. A current one is never removed. Once some are gone, the history is complete from
 * `ferry.history_start()` on only: earlier instants are refused, and the snapshots of that time are removed with them.
 */

/** Rows removed in one transaction. */
const BATCH_ROWS = 5_000

const ENDED = [
  [ALERT_RULE_VERSIONS.name, 'valid_to'],
  [MCP_SERVER_VERSIONS.name, 'valid_to'],
  ['ferry.alert_rule_firings', 'ended'],
] as const

/** Returns the old rows of each table of the history, and the snapshots that would go with them. */
export function oldHistory(pool: Pool, keepMs: number | null): OldRows[] {
  return [...ENDED.map(([table, end]) => oldRowsOf(pool, keepMs, table, end)), oldSnapshots(pool, keepMs)]
}

function oldRowsOf(pool: Pool, keepMs: number | null, table: string, end: string): OldRows {
  return rowsOlderThan(
    pool,
    keepMs,
    table,
    ago => countWhere(pool, table, `${end} < $1::timestamptz`, ago),
    ago => async () => {
      const removed = await removeEnded(pool, table, end, ago)
      return { removed, isLast: removed < BATCH_ROWS }
    },
  )
}

/** In one transaction with the new start of the history: whoever reads sees both or neither. */
function removeEnded(pool: Pool, table: string, end: string, ago: string): Promise<number> {
  return inTransaction(pool, async client => {
    const gone = await client.query(
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where ${end} < $1::timestamptz order by ${end} limit $2::int))`,
      [ago, BATCH_ROWS],
    )
    if (countOf(gone) > 0) await client.query(MOVE_START, [ago])
    return countOf(gone)
  })
}

const MOVE_START = `
  insert into ferry.history as h (starts_at) values ($1::timestamptz)
  on conflict ("only") do update set starts_at = excluded.starts_at where h.starts_at < excluded.starts_at`

/** A snapshot of an instant at which the history is not complete any more. There is none for as long as nothing is removed. */
function oldSnapshots(pool: Pool, keepMs: number | null): OldRows {
  const isOld = `taken_at < ferry.history_start()`
  return {
    table: 'ferry.snapshots',
    keepMs,
    async count() {
      const ago = await loadAgo(pool, keepMs)
      if (ago === null) return 0
      const counts = await Promise.all(
        ENDED.map(([table, end]) => countWhere(pool, table, `${end} < $1::timestamptz`, ago)),
      )
      const start = counts.some(count => count > 0) ? ago : '-infinity'
      return countWhere(pool, 'ferry.snapshots', `taken_at < greatest($1, ferry.history_start())`, start)
    },
    async remove() {
      return keepMs === null ? 0 : countOf(await pool.query(`delete from ferry.snapshots where ${isOld}`))
    },
  }
}

async function countWhere(pool: Pool, table: string, condition: string, instant: string): Promise<number> {
  const sum = `select count(*)::int as rows from ${table} where ${condition}`
  return onlyRow((await pool.query<{ rows: number }>(sum, [instant])).rows, 'a count').rows
}
