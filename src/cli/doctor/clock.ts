import type { Pool } from 'pg'
import { readClock, readSetBackMs } from '#src/db/clock.ts'
import { duration } from '../output.ts'
import type { Finding } from './finding.ts'

/** With a larger difference, the times in this machine's log and in the tables cannot be compared. */
const MAX_DIFFERENCE_MS = 2_000
const SAMPLES = 5

/**
 * Compares the database's clock to the last calls, then this machine's clock to it. Takes the sample with the shortest round
 * trip: it is the most exact.
 */
export async function checkClock(pool: Pool): Promise<Finding> {
  const setBackMs = await readSetBackMs(pool)
  if (setBackMs > 0) {
    return {
      check: 'clock',
      status: 'warn',
      found: `the database's clock was set back: the last calls began ${duration(setBackMs)} later than it says now`,
      whatToDo:
        'Runs and imports of accounts with such calls may wait until the clock is there again. Let it be slewed (NTP), not stepped.',
    }
  }
  let best = await readClock(pool)
  for (let sample = 1; sample < SAMPLES; sample++) {
    const reading = await readClock(pool)
    if (reading.roundTripMs < best.roundTripMs) best = reading
  }
  const size = duration(Math.abs(best.aheadMs))
  const found = `the database's clock is ${size} ${best.aheadMs > 0 ? 'behind' : 'ahead of'} this machine's`
  if (Math.abs(best.aheadMs) <= MAX_DIFFERENCE_MS) return { check: 'clock', status: 'ok', found }
  return {
    check: 'clock',
    status: 'warn',
    found,
    whatToDo:
      "Synchronise both clocks with NTP. Limits, schedules and history use the database's clock; this machine's log does not.",
  }
}
