import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** The part of the history that is asked for: of one account, or of all. */
export type Period = { readonly since: Date; readonly until: Date; readonly account: string | null }

/** A rule that fired, as each list of them shows it. */
export const FiredRuleRow = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  team: z.string().nullable(),
  episodes: z.number(),
  firedForMs: z.number(),
  isFiring: z.boolean(),
})

/** How many episodes began in a quarter of an hour: each time zone has its hours at a quarter. */
export type Begins = { readonly at: Date; readonly value: number }

/** Returns when episodes were seen to begin. Quarters without one are left out. */
export async function loadBegins(reader: Pool, { since, account }: Period): Promise<Begins[]> {
  const rows = await findAll(reader, Quarter, BEGINS, [since, account])
  return rows.map(({ quarter, episodes }) => ({ at: new Date(quarter * 900_000), value: episodes }))
}

const Quarter = z.object({ quarter: z.number(), episodes: z.number() })

const BEGINS = `
  select floor(extract(epoch from e.began) / 900)::int as quarter, count(*)::int as episodes
  from ferry_internal.episodes($1) e
  where e.began >= $1 and e.began_seen and e.account = coalesce($2, e.account)
  group by 1`
