import { boolean, index, primaryKey, sql, text } from '#src/db/drizzle.ts'
import { count, ferry, instant, keyText } from '#src/db/schema.ts'

/*
 * The tables of schedules: their slots and pauses.
 */

export const scheduleSlots = ferry.table(
  'schedule_slots',
  {
    account: keyText('account').notNull(),
    schedule: keyText('schedule').notNull(),
    slot: instant('slot').notNull(),
    attempts: count('attempts'),
    retry_at: instant('retry_at'),
    done_at: instant('done_at'),
    outcome: text('outcome'),
    manual: boolean('manual').notNull().default(false),
  },
  t => [
    primaryKey({ columns: [t.account, t.schedule, t.slot] }),
    index('schedule_slots_unfinished').on(t.slot).where(sql`${t.done_at} is null`),
  ],
)

export const schedulePauses = ferry.table(
  'schedule_pauses',
  {
    schedule: keyText('schedule').notNull(),
    account: keyText('account').notNull(),
    paused_at: instant('paused_at').notNull().default(sql`clock_timestamp()`),
  },
  t => [primaryKey({ columns: [t.schedule, t.account] })],
)
