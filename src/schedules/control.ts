import type { Pool, PoolClient } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { and, drizzleOf, eq, gt, isNull, or, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import type { ActedBy, Action } from '#src/model/act.ts'
import { isNot } from '#src/model/did-you-mean.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { EVERY_ACCOUNT, type Schedule, type ScheduleKey } from './definition.ts'
import { inMs } from './free-slot.ts'
import { schedulePauses, scheduleSlots } from './schema.ts'

/*
 * The actions of people on schedules. Each function takes all schedules, and the name of the one that is meant,
 * for one account or for all, and who does it, for the audit.
 */

/** No schedule has that name, or not for that account. The message names the nearest. */
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
  return addManualSlots(pool, select(schedules, name, account), by)
}

/** Adds a slot for each, whose time is now, and which no worker has yet. Returns their times. */
export function addManualSlots(
  pool: Pool,
  keys: readonly ScheduleKey[],
  by: ActedBy,
): Promise<{ key: ScheduleKey; slot: Date }[]> {
  return inTransaction(pool, async client => {
    const added: { key: ScheduleKey; slot: Date }[] = []
    for (const key of keys) added.push({ key, slot: await addManualSlot(client, key) })
    await recordActs(client, by, actsOn(keys, 'run'))
    return added
  })
}

async function addManualSlot(client: PoolClient, { schedule, account }: ScheduleKey): Promise<Date> {
  const { account: byAccount, schedule: bySchedule, slot } = scheduleSlots
  const rows = await drizzleOf(client)
    .insert(scheduleSlots)
    .values({ account, schedule, slot: inMs(0), retry_at: sql`clock_timestamp()`, manual: true })
    .onConflictDoUpdate({ target: [byAccount, bySchedule, slot], set: { slot: sql`excluded.slot` } })
    .returning({ slot })
  return onlyRow(rows, 'the insert of a slot').slot
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

/** Pausing twice is pausing once: what was paused already is not recorded again. Work under way is not interrupted. */
export function pauseSchedules(pool: Pool, keys: readonly ScheduleKey[], by: ActedBy): Promise<void> {
  return inTransaction(pool, async client => {
    const { schedule, account } = schedulePauses
    const paused = await drizzleOf(client)
      .insert(schedulePauses)
      .values(keys.map(key => ({ schedule: key.schedule, account: key.account })))
      .onConflictDoNothing()
      .returning({ schedule, account })
    await recordActs(client, by, actsOn(paused, 'pause'))
  })
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

/** Returns the schedules that were paused. Only these are recorded. */
export function resumeSchedules(
  pool: Pool,
  keys: readonly ScheduleKey[],
  by: ActedBy,
): Promise<readonly ScheduleKey[]> {
  if (keys.length === 0) return Promise.resolve([]) // no condition would delete every row
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

/** Returns the accounts whose schedule of this name is paused, those without settings here too. */
export async function listPausedAccounts(client: Pool | PoolClient, name: string): Promise<string[]> {
  const paused = await listPauses(client)
  return paused.filter(({ schedule }) => schedule === name).map(({ account }) => account)
}

/** Whether a slot that a worker took, or that somebody asked for, has not ended. One that was left a day ago has no worker any more. */
export async function isAnySlotOpen(client: Pool | PoolClient): Promise<boolean> {
  const { slot, done_at, retry_at } = scheduleSlots
  const isOpen = and(isNull(done_at), gt(retry_at, inMs(-DAY_MS)))
  const open = await drizzleOf(client).select({ slot }).from(scheduleSlots).where(isOpen).limit(1)
  return open.length > 0
}

/** Returns every schedule that is paused, by name and account. */
export function listPauses(client: Pool | PoolClient): Promise<ScheduleKey[]> {
  const { schedule, account } = schedulePauses
  return drizzleOf(client).select({ schedule, account }).from(schedulePauses).orderBy(schedule, account)
}

function select(schedules: readonly Schedule[], name: string, account?: string): ScheduleKey[] {
  const named = schedules.filter(({ schedule }) => schedule === name)
  if (named.length === 0) {
    const names = schedules.map(({ schedule }) => schedule)
    throw new UnknownSchedule(`${JSON.stringify(name)} ${isNot('a schedule', name, names)}`)
  }
  const chosen = named.filter(schedule => account === undefined || schedule.account === account)
  if (chosen.length === 0) {
    const accounts = named.map(schedule => schedule.account)
    if (accounts.every(known => known === EVERY_ACCOUNT))
      throw new UnknownSchedule(`${name} is one schedule for all accounts; leave out --account`)
    throw new UnknownSchedule(
      `${JSON.stringify(account)} ${isNot(`an account of ${name}`, account ?? '', accounts)}`,
    )
  }
  return chosen.map(({ schedule, account }) => ({ schedule, account }))
}

/** The records of an act on schedules: one for each. */
function actsOn(keys: readonly ScheduleKey[], action: Action) {
  return keys.map(({ schedule, account }) => {
    return { account, action, subjectKind: 'schedule', subject: schedule } as const
  })
}
