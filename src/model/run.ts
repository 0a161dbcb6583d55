import type { Resource } from './resource.ts'

/** What set a run off. */
export type Trigger = 'schedule' | 'manual' | 'catch-up'

/**
 * How a run stands.
 *
 *     running ──► succeeded   everything the platform listed is in Postgres
 *             ├─► partial     the listing was not complete: added and changed, removed nothing
 *             ├─► held        too much would have been removed: the rest is applied, a person decides
 *             ├─► failed      nothing was applied
 *             └─► skipped     another run was at it
 */
export const RUN_STATUSES = ['running', 'succeeded', 'partial', 'held', 'failed', 'skipped'] as const
export type RunStatus = (typeof RUN_STATUSES)[number]

/**
 * What a run did. `seen` = `added` + `changed` + `unchanged` + `quarantined`: no row delivered is unaccounted for.
 */
export type RunCounts = {
  readonly seen: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  readonly quarantined: number
}

export type RunResult = RunCounts & {
  readonly run: bigint
  readonly account: string
  readonly resource: Resource
  readonly status: Exclude<RunStatus, 'running'>
  readonly requests: number
  readonly durationMs: number
  /** The platform's code, or one of Ferry's own (`LeaseLost`, `Interrupted`, `TimedOut`, ...); null if all went well. */
  readonly errorCode: string | null
  readonly requestId: string | null
  /** What happened and what to do, in words; null if there is nothing to say. */
  readonly message: string | null
}
