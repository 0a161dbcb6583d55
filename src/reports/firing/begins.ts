import type { Pool } from 'pg'
import type { Period } from './period.ts'

/** How many episodes began in a quarter of an hour: each time zone has its hours at a quarter. */
export type Begins = { readonly at: Date; readonly value: number }

/** Returns when episodes began. Quarters without one are left out. */
export async function loadBegins(reader: Pool, { since, account }: Period): Promise<Begins[]> {
  const { rows } = await reader.query<{ quarter: number; episodes: number }>(BEGINS, [since, account])
  return rows.map(({ quarter, episodes }) => ({ at: new Date(quarter * 900_000), value: episodes }))
}

const BEGINS = `
  select floor(extract(epoch from e.began) / 900)::int as quarter, count(*)::int as episodes
  from (
    select f.began from ferry.alert_rule_firings f
    where f.ended > $1 and f.ended < 'infinity' and f.account = coalesce($2, f.account)
    union all
    select f.began from ferry.alert_rule_firings f where f.ended is null and f.account = coalesce($2, f.account)
  ) e
  where e.began >= $1
  group by 1`
