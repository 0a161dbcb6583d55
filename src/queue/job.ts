import type { ImportContext } from '#src/imports/context.ts'
import type { WorkEnd, WorkOptions } from '#src/imports/work.ts'
import type { InventoryContext } from '#src/inventory/context.ts'
import type { RunResult, Trigger } from '#src/model/run.ts'
import type { ScheduleKey } from '#src/store/schedules.ts'
import type { Reconciler } from './reconcile.ts'

/*
 * The words of this room.
 *
 *   job        what is done: a name, a schedule and one call (the files of `jobs/`)
 *   schedule   a job of one account (or of none): what is listed, paused and run by hand
 *   slot       one time a schedule was due: a row in Postgres, done once, whoever does it
 *   bell       a message in the queue that says "look at this schedule", or "at this import": it carries no work, and
 *              may get lost or come twice
 *   hold       one worker's claim on a slot, renewed while it works
 */

/** What a job is given to work with. `ferry.ts` builds it. */
export type JobContext = InventoryContext & ImportContext & JobSettings

export type JobSettings = {
  readonly pollEveryMs: number
  readonly nightlyCron: string
  /** The time zone in which `nightlyCron` is read. */
  readonly timezone: string
  /** A slot missed while nothing was up is made up for if it is younger than this. */
  readonly catchUpMs: number
}

/**
 * Every so many milliseconds since 1970, and an offset (so that slots do not depend on when somebody started), or at a
 * cron time.
 */
export type Timing =
  | { readonly everyMs: number; readonly offsetMs?: number }
  | { readonly cron: string; readonly timezone: string }

/** A schedule with the times it is due at. */
export type TimedSchedule = ScheduleKey & { readonly timing: Timing; readonly beginsAtOnce: boolean }

/** A job that bells of the queue set off. */
export type QueuedJob = {
  readonly name: string
  /** Whether each account has its own, or there is one for all. */
  readonly perAccount: boolean
  readonly timing: (settings: JobSettings) => Timing
  /** Whether a schedule that never ran is due at once, not at its first time. One that runs every so often always is. */
  readonly beginsAtOnce?: true
  /** How long to wait before each further attempt at a slot that failed. None: one attempt, then the next slot. */
  readonly retryAfterMs: readonly number[]
  /** When a slot is tried again that met another run at work. Null: the slot is skipped for good. */
  readonly skippedAgainAfterMs: number | null
  readonly run: (ferry: JobContext, call: JobCall, signal: AbortSignal) => Promise<JobResult>
}

/** A job whose clock is each worker's own timer. */
export type WorkerJob = {
  readonly name: string
  readonly everyMs: number
  /** Returns in how many milliseconds it wants to run again, if that is sooner. */
  readonly run: (reconciler: Reconciler) => Promise<number>
}

/** The job that bells for imports set off. */
export type ImportJob = {
  readonly name: string
  readonly work: (
    ferry: JobContext,
    importId: bigint,
    signals: Pick<WorkOptions, 'signal' | 'cutOff'>,
  ) => Promise<WorkEnd>
}

export type Job = QueuedJob | WorkerJob | ImportJob

export type JobCall = {
  /** `*` for a job that is not per account. */
  readonly account: string
  readonly trigger: Trigger
  /** The time it was due at; absent if a person asked for it. */
  readonly slot?: Date
}

/** What a job came to; only `failed` is tried again (see `retryAfterMs`). */
export type JobResult = Pick<RunResult, 'status'> & {
  /** The runs of inventories it made: what became of them is logged. */
  readonly runs?: readonly RunResult[]
}

/** Stands for the account of a job that is not per account; no account can be named so. */
export const EVERY_ACCOUNT = '*'

/** All that travels through the queue: which slot is due is for Postgres to say. */
export type Bell = {
  readonly job: string
  readonly account: string
}

/** All that travels through the queue of imports: ids, not people. */
export type ImportBell = { readonly import: string }

export function isQueued(job: Job): job is QueuedJob {
  return 'timing' in job
}

export function isImportJob(job: Job): job is ImportJob {
  return 'work' in job
}

export function isWorkerJob(job: Job): job is WorkerJob {
  return 'everyMs' in job
}
