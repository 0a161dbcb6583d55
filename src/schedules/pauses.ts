import type { Pool } from 'pg'
import { and, drizzleOf, eq, or } from '#src/db/drizzle.ts'
import type { ScheduleKey } from './definition.ts'
import { schedulePauses } from './schema.ts'

/** Pausing twice is pausing once. Work under way is not interrupted. */
export async function pauseSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  if (keys.length === 0) return
  await drizzleOf(pool)
    .insert(schedulePauses)
    .values(keys.map(({ schedule, account }) => ({ schedule, account })))
    .onConflictDoNothing()
}

export async function resumeSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  if (keys.length === 0) return
  const isOneOf = keys.map(({ schedule, account }) =>
    and(eq(schedulePauses.schedule, schedule), eq(schedulePauses.account, account)),
  )
  await drizzleOf(pool)
    .delete(schedulePauses)
    .where(or(...isOneOf))
}

export function loadPauses(pool: Pool): Promise<ScheduleKey[]> {
  const { schedule, account } = schedulePauses
  return drizzleOf(pool).select({ schedule, account }).from(schedulePauses)
}
