import { spread, type Timing } from './timing.ts'

/*
 * The words of this room.
 *
 *   definition   what is to be done by itself, and when: data that `jobs/schedules.ts` gives
 *   schedule     a definition for one account (or for none): what is listed, paused and run by hand
 *   slot         one time a schedule was due: a row in Postgres, done once, by any worker
 *   slot lease   the right of one worker to do a slot
 */

/** A job that runs by itself. `name` is also the name of the job. */
export type ScheduleDefinition = {
  readonly name: string
  /** Whether each account has its own, or there is one for all. */
  readonly perAccount: boolean
  readonly timing: Timing
  /** Whether a cron schedule that never ran is due at once. One with an interval always is. */
  readonly beginsAtOnce: boolean
  /** Whether a run that was missed is caught up with until the next is due, however late, and not only within `FERRY_CATCH_UP`. */
  readonly isNeverTooLate?: true
  /** How long to wait before each further attempt at a slot that failed. None: one attempt, then the next slot. */
  readonly retryAfterMs: readonly number[]
  /** When to try a slot again that was skipped because another run was under way. Null: never. */
  readonly skippedAgainAfterMs: number | null
}

export type ScheduleKey = {
  readonly schedule: string
  /** `EVERY_ACCOUNT` if there is one schedule for all. */
  readonly account: string
}

/** A definition for one account. */
export type Schedule = ScheduleKey & Omit<ScheduleDefinition, 'name' | 'perAccount'>

/** Stands for the account of a schedule that is not per account; no account can be named so. */
export const EVERY_ACCOUNT = '*'

/**
 * Every schedule there is. A schedule with an interval runs at another moment for each account, the same on every
 * worker.
 */
export function schedulesOf(
  definitions: readonly ScheduleDefinition[],
  accounts: Iterable<string>,
): Schedule[] {
  const names = [...accounts]
  return definitions.flatMap(({ name: schedule, perAccount, timing, ...rest }) =>
    perAccount
      ? names.map(account => ({
          schedule,
          account,
          timing: spread(timing, `${schedule}/${account}`),
          ...rest,
        }))
      : [{ schedule, account: EVERY_ACCOUNT, timing, ...rest }],
  )
}
