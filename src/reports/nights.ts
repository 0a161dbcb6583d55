import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

const Night = z.object({
  account: z.string(),
  /** How complete its snapshot is: `succeeded`, `partial` or `held`; `missed`: it has no snapshot. */
  status: z.string(),
})
export type Night = Readonly<z.infer<typeof Night>>

/** Returns the status of a night (a date such as `2026-11-20`), by account. Empty before the first snapshot. */
export function loadNight(pool: Pool, night: string, account: string | null): Promise<Night[]> {
  return findAll(
    pool,
    Night,
    `select account, status from ferry.nights($1::date - 1)
     where night = $1 and ($2::text is null or account = $2) order by account`,
    [night, account],
  )
}

const MissedNight = z.object({ account: z.string(), night: z.string() })
export type MissedNight = Readonly<z.infer<typeof MissedNight>>

/** The nights of the last 30 days without a snapshot, the newest first: at most `limit`. `night` is a date. */
export function loadMissedNights(pool: Pool, limit: number): Promise<MissedNight[]> {
  return findAll(
    pool,
    MissedNight,
    `select account, night::text from ferry.nights() where status = 'missed' order by night desc, account limit $1`,
    [limit],
  )
}
