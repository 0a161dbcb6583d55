import type { Pool } from 'pg'

export type Night = {
  readonly account: string
  /** How complete its snapshot is: `succeeded`, `partial` or `held`; `missed`: there is none. */
  readonly status: string
}

/** Returns what became of a night (a date such as `2026-11-20`), by account. Empty before the first snapshot. */
export async function loadNight(pool: Pool, night: string, account: string | null): Promise<Night[]> {
  const { rows } = await pool.query<Night>(
    `select account, status from ferry.nights($1::date - 1)
     where night = $1 and ($2::text is null or account = $2) order by account`,
    [night, account],
  )
  return rows
}
