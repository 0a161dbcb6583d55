import type { Inventory } from './resource.ts'

/** The trigger of a run. */
export const TRIGGERS = ['schedule', 'manual', 'catch-up'] as const
export type Trigger = (typeof TRIGGERS)[number]

/**
 * The states of a run.
 *
 *     running ──► succeeded   everything the platform listed is in Postgres
 *             ├─► partial     the listing was not complete: rows were added and changed, none was removed
 *             ├─► held        too many rows would have been removed: the rest is applied, a person decides
 *             ├─► failed      nothing was applied
 *             └─► skipped     another run was syncing the inventory
 */
export const RUN_STATUSES = ['running', 'succeeded', 'partial', 'held', 'failed', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/**
 * How a job ended.
 *
 *   succeeded, partial   what could be done is stored
 *   held      what could be done is stored; a person has to decide how it goes on
 *   failed    nothing was stored; it is tried again as its schedule says
 *   skipped   nothing was done: another worker is processing the same, or it has to wait
 *   yielded   it stopped early so that others have their turn; there is more to do
 *   stopped   it stopped early because the worker drains
 */
export type JobStatus = Exclude<RunStatus, 'running'> | 'yielded' | 'stopped'

/** The statuses of runs that were applied. */
export const APPLIED_STATUSES = ['succeeded', 'partial', 'held'] as const satisfies readonly RunStatus[]

/** The statuses of runs that applied a complete listing. */
export const COMPLETE_STATUSES = ['succeeded', 'held'] as const satisfies readonly RunStatus[]

/** The counts of a run's rows, in the order in which they are shown. */
export const RUN_COUNTS = ['seen', 'added', 'changed', 'removed', 'unchanged', 'quarantined'] as const

/** `seen` = `added` + `changed` + `unchanged` + `quarantined`: no delivered row is unaccounted for. */
export type RunCounts = Readonly<Record<(typeof RUN_COUNTS)[number], number>>

/** Returns the counts of `run` and nothing else of it. */
export function countsOf(run: RunCounts): RunCounts {
  const { seen, added, changed, removed, unchanged, quarantined } = run
  return { seen, added, changed, removed, unchanged, quarantined }
}

/** How a run ended, as people see it. */
export type RunOutcome = RunCounts & {
  readonly status: Exclude<RunStatus, 'running'>
  readonly requests: number
  /** The platform's code, or one of Ferry's own (`LeaseLost`, `Interrupted`, `TimedOut`, ...); null without an error. */
  readonly errorCode: string | null
  readonly requestId: string | null
  /** The cause and the remedy; null if all went well. */
  readonly message: string | null
}

/** Returns the outcome of `run` and nothing else of it. */
export function outcomeOf(run: RunOutcome): RunOutcome {
  const { status, requests, errorCode, requestId, message } = run
  return { ...countsOf(run), status, requests, errorCode, requestId, message }
}

export type RunResult = Inventory & RunOutcome & { readonly run: bigint; readonly durationMs: number }

/** The error code of work whose worker died, or could not reach Postgres for longer than its lease or claim: a run, a batch. */
export const WORKER_LOST_CODE = 'WorkerLost'

/** The codes by which the platform refuses a key until somebody changes the key, its rights or the balance. */
export const KEY_REFUSALS: ReadonlySet<string | null> = new Set([
  'Unauthorized',
  'BalanceNotEnough',
  'AccessDenied',
])
