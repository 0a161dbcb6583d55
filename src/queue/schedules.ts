import { closest } from 'fastest-levenshtein'
import { readClock } from '#src/store/clock.ts'
import * as store from '#src/store/schedules.ts'
import { addManualSlot } from '#src/store/slots.ts'
import type { QueueBackend } from './backend.ts'
import { ring } from './bells.ts'
import {
  EVERY_ACCOUNT,
  isQueued,
  type Job,
  type JobContext,
  type JobSettings,
  type TimedSchedule,
} from './job.ts'
import { slotAfter, spread } from './timing.ts'

export type { ScheduleKey } from '#src/store/schedules.ts'

/** One line of `ferry schedules list`. */
export type ScheduleRow = {
  readonly name: string
  /** `*` for a job that is not per account. */
  readonly account: string
  /** Either this, */
  readonly everyMs: number | null
  /** or this, read in this time zone. */
  readonly cron: string | null
  readonly timezone: string | null
  readonly paused: boolean
  /** Null while paused. */
  readonly nextAt: Date | null
  readonly lastSlot: Date | null
  /** Null while the last slot is under way or waits to be tried again. */
  readonly lastOutcome: string | null
}

/** There is no schedule of that name (or none for that account); the message names the nearest. */
export class UnknownSchedule extends Error {
  override readonly name = 'UnknownSchedule'
}

type Selection = Pick<JobContext, 'accounts'> & JobSettings
type Stored = Selection & Pick<JobContext, 'pool'>

/**
 * Every schedule there is: each job, for each account if it is per account. What runs every so often does so at another
 * moment for each account, the same on every worker.
 */
export function schedulesOf(ferry: Selection, jobs: readonly Job[]): TimedSchedule[] {
  return jobs.filter(isQueued).flatMap(job => {
    const timing = job.timing(ferry)
    const accounts = job.perAccount ? [...ferry.accounts.keys()] : [EVERY_ACCOUNT]
    return accounts.map(account => ({
      schedule: job.name,
      account,
      timing: job.perAccount ? spread(timing, `${job.name}/${account}`) : timing,
      beginsAtOnce: job.beginsAtOnce ?? false,
    }))
  })
}

/** All from Postgres and the settings, so it answers while the queue is out of reach. */
export async function listSchedules(ferry: Stored, jobs: readonly Job[]): Promise<ScheduleRow[]> {
  const pauses = new Set((await store.loadPauses(ferry.pool)).map(idOf))
  const last = new Map((await store.loadLastSlots(ferry.pool)).map(slot => [idOf(slot), slot]))
  const { now } = await readClock(ferry.pool)
  return schedulesOf(ferry, jobs).map(schedule => {
    const { timing } = schedule
    const paused = pauses.has(idOf(schedule))
    return {
      name: schedule.schedule,
      account: schedule.account,
      everyMs: 'everyMs' in timing ? timing.everyMs : null,
      cron: 'cron' in timing ? timing.cron : null,
      timezone: 'cron' in timing ? timing.timezone : null,
      paused,
      nextAt: paused ? null : slotAfter(timing, now),
      lastSlot: last.get(idOf(schedule))?.slot ?? null,
      lastOutcome: last.get(idOf(schedule))?.outcome ?? null,
    }
  })
}

/**
 * Sets off each matching schedule at once, paused or not; returns which. Throws `UnknownSchedule`.
 *
 * It is recorded in Postgres first. So if the queue is out of reach or loses the bell, a worker finds it all the same.
 */
export async function runSchedule(
  ferry: Stored & Pick<JobContext, 'log'>,
  backend: QueueBackend,
  jobs: readonly Job[],
  name: string,
  account?: string,
): Promise<store.ScheduleKey[]> {
  const keys = select(ferry, jobs, name, account)
  const queue = backend.openQueue('sync')
  try {
    for (const key of keys) {
      const slot = await addManualSlot(ferry.pool, key)
      if (await ring(queue, key, slot)) continue
      ferry.log.warn(key, 'the queue is out of reach; a worker begins once it is back')
    }
  } finally {
    await queue.close()
  }
  return keys
}

/** Returns what is paused now. Throws `UnknownSchedule`. */
export async function pauseSchedule(
  ferry: Stored,
  jobs: readonly Job[],
  name: string,
  account?: string,
): Promise<store.ScheduleKey[]> {
  const keys = select(ferry, jobs, name, account)
  await store.pauseSchedules(ferry.pool, keys)
  return keys
}

/** Returns what runs again. Throws `UnknownSchedule`. */
export async function resumeSchedule(
  ferry: Stored,
  jobs: readonly Job[],
  name: string,
  account?: string,
): Promise<store.ScheduleKey[]> {
  const keys = select(ferry, jobs, name, account)
  await store.resumeSchedules(ferry.pool, keys)
  return keys
}

function select(ferry: Selection, jobs: readonly Job[], name: string, account?: string): store.ScheduleKey[] {
  const schedules = schedulesOf(ferry, jobs)
  const named = schedules.filter(({ schedule }) => schedule === name)
  if (named.length === 0) {
    throw new UnknownSchedule(
      `There is no schedule ${name}. ${didYouMean(
        name,
        schedules.map(s => s.schedule),
      )}`,
    )
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

function idOf({ schedule, account }: store.ScheduleKey): string {
  return `${schedule}/${account}`
}
