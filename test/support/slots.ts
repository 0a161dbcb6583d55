import type { Pool } from 'pg'
import { drizzleOf } from '#src/db/drizzle.ts'
import { scheduleSlots } from '#src/schedules/schema.ts'

/** All slots, the oldest first. */
export function listSlots(pool: Pool): Promise<(typeof scheduleSlots.$inferSelect)[]> {
  return drizzleOf(pool).select().from(scheduleSlots).orderBy(scheduleSlots.slot)
}

/** Every slot that is not done may be tried again, and could have been for so long (an interval of Postgres). */
export async function endSlotPauses(pool: Pool, ago = '0'): Promise<void> {
  await pool.query(
    `update ferry.schedule_slots set retry_at = clock_timestamp() - $1::interval where done_at is null`,
    [ago],
  )
}
