import { closest } from 'fastest-levenshtein'
import type { Pool } from 'pg'
import type { ActedBy } from '#src/model/act.ts'
import { addManualSlot } from './add-slot.ts'
import type { Schedule, ScheduleKey } from './definition.ts'
import { pauseSchedules, resumeSchedules } from './pauses.ts'

/*
 * What a person may do with schedules. Each function takes all schedules there are, and the name of the one that is meant,
 * for one account or for all, and who does it, for the audit.
 */

/** There is no schedule of that name, or none for that account. The message names the nearest. */
export class UnknownSchedule extends Error {
  override readonly name = 'UnknownSchedule'
}

/**
 * Records that each matching schedule is to run now, paused or not; returns which, with the time of its slot. Workers find
 * it in Postgres, at once if they are woken. Throws `UnknownSchedule`.
 */
export async function requestRun(
  pool: Pool,
  schedules: readonly Schedule[],
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<{ key: ScheduleKey; slot: Date }[]> {
  const requested: { key: ScheduleKey; slot: Date }[] = []
  for (const key of select(schedules, name, account)) {
    requested.push({ key, slot: await addManualSlot(pool, key, by) })
  }
  return requested
}

/** Returns what is paused now. Throws `UnknownSchedule`. */
export async function pauseSchedule(
  pool: Pool,
  schedules: readonly Schedule[],
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<ScheduleKey[]> {
  const keys = select(schedules, name, account)
  await pauseSchedules(pool, keys, by)
  return keys
}

/** Returns what runs again, and whether it was paused. Throws `UnknownSchedule`. */
export async function resumeSchedule(
  pool: Pool,
  schedules: readonly Schedule[],
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<(ScheduleKey & { readonly wasPaused: boolean })[]> {
  const keys = select(schedules, name, account)
  const resumed = await resumeSchedules(pool, keys, by)
  return keys.map(key => ({ ...key, wasPaused: resumed.some(one => one.account === key.account) }))
}

function select(schedules: readonly Schedule[], name: string, account?: string): ScheduleKey[] {
  const named = schedules.filter(({ schedule }) => schedule === name)
  if (named.length === 0) {
    const names = schedules.map(({ schedule }) => schedule)
    throw new UnknownSchedule(`There is no schedule ${name}. ${didYouMean(name, names)}`)
  }
  const chosen = named.filter(schedule => account === undefined || schedule.account === account)
  if (chosen.length === 0) {
    const accounts = named.map(schedule => schedule.account)
    throw new UnknownSchedule(`${name} has no account ${account}. ${didYouMean(account ?? '', accounts)}`)
  }
  return chosen.map(({ schedule, account }) => ({ schedule, account }))
}

function didYouMean(text: string, names: readonly string[]): string {
  return names.length > 0 ? `Did you mean ${closest(text, names)}?` : 'No account is configured.'
}
