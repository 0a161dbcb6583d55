import type { Pool } from 'pg'
import type { OldRows } from '#src/db/prune.ts'
import { countOf, onlyRow } from '#src/db/rows.ts'
import { DAY_MS } from '#src/model/duration.ts'

/** Long enough to see how a schedule did. */
const KEEP_SLOTS_DAYS = 30

/** Returns the old slots: few, as they are removed every day. */
export function oldSlots(pool: Pool): OldRows {
  return {
    table: 'ferry.schedule_slots',
    keepMs: KEEP_SLOTS_DAYS * DAY_MS,
    async count() {
      const sum = `select count(*)::int as slots from ferry.schedule_slots s where ${IS_OLD}`
      const { rows } = await pool.query<{ slots: number }>(sum, [KEEP_SLOTS_DAYS])
      return onlyRow(rows, 'the count of old slots').slots
    },
    async remove() {
      return countOf(
        await pool.query(`delete from ferry.schedule_slots s where ${IS_OLD}`, [KEEP_SLOTS_DAYS]),
      )
    },
  }
}

/** The latest slot of a schedule stays: that it was done is what keeps it from being done again. */
const IS_OLD = `
  s.slot < clock_timestamp() - $1 * interval '1 day'
  and (s.done_at is not null or s.retry_at < clock_timestamp() - $1 * interval '1 day')
  and exists (
    select from ferry.schedule_slots later
    where later.account = s.account and later.schedule = s.schedule and later.slot > s.slot)`
