import type { Pool } from 'pg'
import { duration } from '../output.ts'
import type { Finding } from './finding.ts'

/** Beyond this, what this machine logs and what the tables say would confuse whoever compares them. */
const TOLERATED_MS = 2_000
const SAMPLES = 5

/** Compares this machine's clock to the database's, on the quickest of a few round trips. */
export async function checkClock(pool: Pool): Promise<Finding> {
  let best = { differenceMs: 0, roundTripMs: Number.POSITIVE_INFINITY }
  for (let sample = 0; sample < SAMPLES; sample++) {
    const askedAtMs = Date.now()
    const { rows } = await pool.query<{ ms: number }>(
      'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
    )
    const answeredAtMs = Date.now()
    const roundTripMs = answeredAtMs - askedAtMs
    const differenceMs = (rows[0]?.ms ?? 0) - (askedAtMs + answeredAtMs) / 2
    if (roundTripMs < best.roundTripMs) best = { differenceMs, roundTripMs }
  }
  const size = duration(Math.abs(best.differenceMs))
  const found = `the database's clock is ${size} ${best.differenceMs < 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(best.differenceMs) <= TOLERATED_MS) return { check: 'clock', status: 'ok', found }
  return {
    check: 'clock',
    status: 'warn',
    found,
    whatToDo:
      "Have both set by NTP. Limits, schedules and history go by the database's clock; the log of this machine does not.",
  }
}
