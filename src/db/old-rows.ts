import type { Pool } from 'pg'
import { DAY_MS } from '#src/model/duration.ts'
import { type OldRows, oldRows } from './prune.ts'

/*
 * Which rows of the tables of `src/db` are old.
 */

/** Calls of the call log, but not those that `isKept`, in SQL about a row `r`, says belong to another record. */
export function oldCalls(pool: Pool, keepMs: number | null, isKept: string): OldRows {
  const hasAged = 'r.counted_by < $1::timestamptz'
  const isOld = `${hasAged} and not (${isKept})`
  return oldRows(pool, { table: 'ferry.platform_calls', keepMs, hasAged, isOld })
}

/** Events. One that is open stays, however old: it would be raised again. */
export function oldEvents(pool: Pool, keepMs: number | null): OldRows {
  return oldRows(pool, {
    table: 'ferry.events',
    keepMs,
    isOld: 'r.at < $1::timestamptz and not r.is_open',
    order: 'r.id',
  })
}

/** Leases that expired long ago: of work that no worker took up again. */
export function oldLeases(pool: Pool): OldRows {
  return oldRows(pool, {
    table: 'ferry.leases',
    keepMs: DAY_MS,
    isOld: 'r.expires_at < $1::timestamptz',
  })
}

/** Workers that have been silent for long. */
export function oldWorkers(pool: Pool): OldRows {
  return oldRows(pool, {
    table: 'ferry.workers',
    keepMs: DAY_MS,
    isOld: 'r.seen_at < $1::timestamptz',
  })
}
