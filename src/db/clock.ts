import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { findValue } from './rows.ts'

/** The time of the database's clock, and how this machine's clock differs from it. */
export type ClockReading = {
  /** The database's time. */
  readonly now: Date
  /** How far this machine's clock is ahead of the database's; below 0 if it is behind. */
  readonly aheadMs: number
  /** `aheadMs` is exact to half of this. */
  readonly roundTripMs: number
}

/** SQL for the time of the database's clock, in milliseconds, as `clockReading` takes it. */
export const CLOCK_MS_IN_SQL = 'extract(epoch from clock_timestamp())::float8 * 1000'

/** Reads the database's clock: the one clock that all workers share. */
export async function readClock(client: Pool | PoolClient): Promise<ClockReading> {
  const askedAtMs = performance.now()
  return clockReading(await findValue(client, z.number(), `select ${CLOCK_MS_IN_SQL}`), askedAtMs)
}

/** Returns the reading of a clock that was asked for at `askedAtMs` of `performance.now()`, and has just come. */
export function clockReading(ms: number, askedAtMs: number): ClockReading {
  const roundTripMs = performance.now() - askedAtMs
  return { now: new Date(ms), aheadMs: Date.now() - roundTripMs / 2 - ms, roundTripMs }
}

/** Calls that are looked at: those of ten minutes, if ten accounts are polled every minute. */
const LAST_CALLS = 1_000

/**
 * Returns how far the last calls are ahead of the database's clock, in milliseconds; 0 if they are not. Since it is this
 * clock that tells when a call began, it was set back at least so far.
 */
export function readSetBackMs(pool: Pool): Promise<number> {
  return findValue(
    pool,
    z.number(),
    `select greatest(extract(epoch from max(started) - clock_timestamp())::float8 * 1000, 0)
     from (select started from ferry.platform_calls order by id desc limit $1) last`,
    [LAST_CALLS],
  )
}
