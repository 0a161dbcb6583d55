import { z } from 'zod'
import { findAll, type Queryable } from '#src/db/rows.ts'
import type { ScheduleKey } from './definition.ts'

/** A time at which a schedule was due, and what came of it. */
const RecentSlot = z.object({
  schedule: z.string(),
  account: z.string(),
  slot: z.date(),
  doneAt: z.date().nullable(),
  /** Null while it is under way or waits to be tried again. */
  outcome: z.string().nullable(),
})
export type RecentSlot = Readonly<z.infer<typeof RecentSlot>>

/** The last slots of each of these schedules, at most `limit` of each, the oldest first. */
export function listRecentSlots(
  client: Queryable,
  schedules: readonly ScheduleKey[],
  limit: number,
): Promise<RecentSlot[]> {
  return findAll(
    client,
    RecentSlot,
    `select s.* from unnest($1::text[], $2::text[]) as a (schedule, account)
     cross join lateral (
       select t.schedule, t.account, t.slot, t.done_at, t.outcome from ferry.schedule_slots t
       where t.account = a.account and t.schedule = a.schedule
       order by t.slot desc limit $3) s
     order by s.slot`,
    [schedules.map(({ schedule }) => schedule), schedules.map(({ account }) => account), limit],
  )
}
