import type { Pool } from 'pg'
import type { Period } from './period.ts'

/** How many episodes began in a quarter of an hour: each time zone has its hours at a quarter. */
export type Begins = { readonly at: Date; readonly value: number }

/** Returns when episodes were seen to begin. Quarters without one are left out. */
export async function loadBegins(reader: Pool, { since, account }: Period): Promise<Begins[]> {
  const { rows } = await reader.query<{ quarter: number; episodes: number }>(BEGINS, [since, account])
  return rows.map(({ quarter, episodes }) => ({ at: new Date(quarter * 900_000), value: episodes }))
}

const BEGINS = `
  select floor(extract(epoch from e.began) / 900)::int as quarter, count(*)::int as episodes
  from ferry.episodes($1) e
  where e.began >= $1 and e.began_seen and e.account = coalesce($2, e.account)
  group by 1`
