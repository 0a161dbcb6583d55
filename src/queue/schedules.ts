import type { QueueBackend } from './backend.ts'
import type { Job, JobContext } from './job.ts'

export type ScheduleKey = { readonly schedule: string; readonly account: string }

/** One line of `ferry schedules list`. */
export type ScheduleRow = {
  readonly name: string
  /** `*` for a job that is not per account. */
  readonly account: string
  readonly everyMs: number | null
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

export async function listSchedules(_ferry: JobContext, _jobs: readonly Job[]): Promise<ScheduleRow[]> {
  throw new Error('under construction')
}

/** Rings for each matching schedule at once; returns which. Throws `UnknownSchedule`. */
export async function runSchedule(
  _ferry: JobContext,
  _backend: QueueBackend,
  _jobs: readonly Job[],
  _name: string,
  _account?: string,
): Promise<ScheduleKey[]> {
  throw new Error('under construction')
}

/** Returns what is paused now. Throws `UnknownSchedule`. */
export async function pauseSchedule(
  _ferry: JobContext,
  _jobs: readonly Job[],
  _name: string,
  _account?: string,
): Promise<ScheduleKey[]> {
  throw new Error('under construction')
}

/** Returns what runs again. Throws `UnknownSchedule`. */
export async function resumeSchedule(
  _ferry: JobContext,
  _jobs: readonly Job[],
  _name: string,
  _account?: string,
): Promise<ScheduleKey[]> {
  throw new Error('under construction')
}
