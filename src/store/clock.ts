import type { Pool } from 'pg'

/** What the database's clock says, and how this machine's differs from it. */
export type ClockReading = {
  /** The database's time. */
  readonly now: Date
  /** How far this machine's clock is ahead of the database's; below 0 if it is behind. */
  readonly aheadMs: number
  /** The difference is known to half the round trip. */
  readonly roundTripMs: number
}

/** What is due is decided by the database's clock, the one clock that all workers share. */
export async function readClock(pool: Pool): Promise<ClockReading> {
  const askedAtMs = performance.now()
  const { rows } = await pool.query<{ ms: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as ms',
  )
  const roundTripMs = performance.now() - askedAtMs
  const [row] = rows
  if (!row) throw new Error('the database gave no time')
  return { now: new Date(row.ms), aheadMs: Date.now() - roundTripMs / 2 - row.ms, roundTripMs }
}
