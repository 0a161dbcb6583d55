import type { Pool } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { and, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { installation } from '#src/db/schema.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ScheduleKey } from './definition.ts'
import { actsOn } from './pauses.ts'
import { scheduleSlots } from './schema.ts'

/** Records that a person wants `key` to run now; returns the slot this makes: its time is now, and no worker has it yet. */
export function addManualSlot(pool: Pool, key: ScheduleKey, by: ActedBy): Promise<Date> {
  const { schedule, account } = key
  const { account: byAccount, schedule: bySchedule, slot } = scheduleSlots
  return inTransaction(pool, async client => {
    const rows = await drizzleOf(client)
      .insert(scheduleSlots)
      .values({ account, schedule, slot: inMs(0), retry_at: sql`clock_timestamp()`, manual: true })
      .onConflictDoUpdate({ target: [byAccount, bySchedule, slot], set: { slot: sql`excluded.slot` } })
      .returning({ slot })
    await recordActs(client, by, actsOn([key], 'run'))
    return onlyRow(rows, 'the insert of a slot').slot
  })
}

/**
 * Records the first slot of a schedule: its time is now. Null if the schedule has one, or had one. Of many workers that
 * try at once, one does: the row of the installation is their lock.
 */
export function addFirstSlot(pool: Pool, { schedule, account }: ScheduleKey): Promise<Date | null> {
  return inTransaction(pool, async client => {
    const db = drizzleOf(client)
    await db.select({ only: installation.only }).from(installation).for('update')
    const isOf = and(eq(scheduleSlots.account, account), eq(scheduleSlots.schedule, schedule))
    const [any] = await db.select({ slot: scheduleSlots.slot }).from(scheduleSlots).where(isOf).limit(1)
    if (any) return null
    const first = { account, schedule, slot: inMs(0), retry_at: sql`clock_timestamp()` }
    const rows = await db.insert(scheduleSlots).values(first).returning({ slot: scheduleSlots.slot })
    return onlyRow(rows, 'the insert of a first slot').slot
  })
}

/** A time from now, in whole milliseconds like a JavaScript Date, so that a slot is found again by its time. */
export function inMs(ms: number) {
  return sql<Date>`date_trunc('milliseconds', clock_timestamp()) + ${ms}::int * interval '1 ms'`
}
