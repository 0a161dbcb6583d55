import type { Pool } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { and, drizzleOf, eq, or } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import type { ActedBy, Action } from '#src/model/act.ts'
import type { ScheduleKey } from './definition.ts'
import { schedulePauses } from './schema.ts'

/** Pausing twice is pausing once. Work under way is not interrupted. What was paused already is not recorded again. */
export async function pauseSchedules(pool: Pool, keys: readonly ScheduleKey[], by: ActedBy): Promise<void> {
  if (keys.length === 0) return
  await inTransaction(pool, async client => {
    const { schedule, account } = schedulePauses
    const paused = await drizzleOf(client)
      .insert(schedulePauses)
      .values(keys.map(key => ({ schedule: key.schedule, account: key.account })))
      .onConflictDoNothing()
      .returning({ schedule, account })
    await recordActs(client, by, actsOn(paused, 'pause'))
  })
}

/** Returns what was paused. What was not is not recorded. */
export async function resumeSchedules(
  pool: Pool,
  keys: readonly ScheduleKey[],
  by: ActedBy,
): Promise<readonly ScheduleKey[]> {
  if (keys.length === 0) return []
  return inTransaction(pool, async client => {
    const { schedule, account } = schedulePauses
    const resumed = await drizzleOf(client)
      .delete(schedulePauses)
      .where(or(...keys.map(key => and(eq(schedule, key.schedule), eq(account, key.account)))))
      .returning({ schedule, account })
    await recordActs(client, by, actsOn(resumed, 'resume'))
    return resumed
  })
}

/** The records of an act on schedules: one for each. */
export function actsOn(keys: readonly ScheduleKey[], action: Action) {
  return keys.map(({ schedule, account }) => {
    return { account, action, subjectKind: 'schedule', subject: schedule } as const
  })
}
