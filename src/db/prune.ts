import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { onlyRow } from './rows.ts'

/** The rows of one table that are old enough to be removed. */
export type OldRows = {
  readonly table: string
  /** For how long its rows are kept, in milliseconds; null: for ever. */
  readonly keepMs: number | null
  /** Returns how many there are now. Removes none. */
  count(): Promise<number>
  /** Removes them in small transactions. Returns how many; fewer than there are if `signal` aborts. */
  remove(signal: AbortSignal): Promise<number>
}

/** One small transaction. */
export type Batch = { readonly removed: number; readonly isLast: boolean }

/** Other work gets at least as much time as a batch took, up to this. */
const MAX_PAUSE_MS = 200

/** Removes batch after batch, with a pause after each, so that other work goes on. Returns how many rows were removed. */
export async function removeInBatches(batch: () => Promise<Batch>, signal: AbortSignal): Promise<number> {
  let sum = 0
  while (!signal.aborted) {
    const startedAtMs = performance.now()
    const { removed, isLast } = await batch()
    sum += removed
    if (isLast) break
    await delay(Math.min(performance.now() - startedAtMs, MAX_PAUSE_MS), undefined, { signal }).catch(
      () => {},
    )
  }
  return sum
}

/**
 * Returns the rows of a table that are old once `keepMs` have passed. Both functions get that instant: `count` counts the
 * rows, and what `batches` returns removes some of them at a time.
 */
export function rowsOlderThan(
  pool: Pool,
  keepMs: number | null,
  table: string,
  count: (ago: string) => Promise<number>,
  batches: (ago: string) => () => Promise<Batch>,
): OldRows {
  return {
    table,
    keepMs,
    async count() {
      const ago = await loadAgo(pool, keepMs)
      return ago === null ? 0 : count(ago)
    },
    async remove(signal) {
      const ago = await loadAgo(pool, keepMs)
      return ago === null ? 0 : removeInBatches(batches(ago), signal)
    },
  }
}

/** Returns the instant so long ago by the database's clock, as Postgres writes it; null if rows are kept for ever. */
export async function loadAgo(pool: Pool, keepMs: number | null): Promise<string | null> {
  if (keepMs === null) return null
  const { rows } = await pool.query<{ ago: string }>(
    `select (clock_timestamp() - $1 * interval '1 ms')::text as ago`,
    [keepMs],
  )
  return onlyRow(rows, 'an instant of the past').ago
}
