import type { Pool, PoolClient } from 'pg'
import type { Schedule, ScheduleKey } from './definition.ts'
import { slotAfter } from './timing.ts'

/** When the next slot of a schedule is due that no worker has taken. */
export type NextSlot = ScheduleKey & { readonly at: Date }

/**
 * Returns the next slot of each of these schedules after the last one that a worker took: if it is past, no worker takes
 * it. Leaves out schedules that are paused or never had a slot.
 */
export async function listNextSlots(
  client: Pool | PoolClient,
  schedules: readonly Schedule[],
): Promise<NextSlot[]> {
  const { rows } = await client.query<{ slot: Date | null }>(
    `select case when not exists (select from ferry.schedule_pauses p
         where p.schedule = a.schedule and p.account = a.account) then s.slot end as slot
     from unnest($1::text[], $2::text[]) with ordinality as a (schedule, account, position)
     left join lateral (
       select t.slot from ferry.schedule_slots t where t.account = a.account and t.schedule = a.schedule
       order by t.slot desc limit 1) s on true
     order by a.position`,
    [schedules.map(({ schedule }) => schedule), schedules.map(({ account }) => account)],
  )
  return schedules.flatMap(({ schedule, account, timing }, index) => {
    const last = rows[index]?.slot
    return last ? [{ schedule, account, at: slotAfter(timing, last) }] : []
  })
}
