import type { Pool } from 'pg'
import { countOf } from '#src/db/rows.ts'

/** Long enough to see how a schedule did. */
const KEEP_SLOTS_DAYS = 30

/** Removes old slots; returns how many. */
export async function pruneSlots(pool: Pool): Promise<number> {
  return countOf(await pool.query(PRUNE_SLOTS, [KEEP_SLOTS_DAYS]))
}

/** The latest slot of a schedule stays: that it was done is what keeps it from being done again. */
const PRUNE_SLOTS = `
  delete from ferry.schedule_slots s
  where s.slot < clock_timestamp() - $1 * interval '1 day'
    and (s.done_at is not null or s.retry_at < clock_timestamp() - $1 * interval '1 day')
    and exists (
      select from ferry.schedule_slots later
      where later.account = s.account and later.schedule = s.schedule and later.slot > s.slot)`
