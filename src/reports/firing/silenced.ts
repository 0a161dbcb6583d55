import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import type { Period } from './firings.ts'

/** A row of the report `silenced`: a rule was disabled, removed or edited while it fired or soon after. */
const SilencedRule = z.object({
  account: z.string(),
  id: z.string(),
  name: z.string(),
  team: z.string().nullable(),
  at: z.date(),
  what: z.enum(['disabled', 'removed', 'edited']),
  /** Null for a removal. */
  fields: z.array(z.string()).nullable(),
  by: z.string().nullable(),
  began: z.date(),
  ended: z.date().nullable(),
  isWhileFiring: z.boolean(),
  /** `at` as Postgres writes it, to the microsecond: for the place in the list. */
  exactAt: z.string(),
})
export type SilencedRule = Readonly<z.infer<typeof SilencedRule>>

/** The row after which a list goes on. */
export type AfterSilenced = readonly [exactAt: string, account: string, id: string]

/** Returns what was silenced since a time, the newest first. */
export function loadSilenced(
  reader: Pool,
  { since, account }: Period,
  after: AfterSilenced | null,
  maxRows: number,
): Promise<SilencedRule[]> {
  return findAll(reader, SilencedRule, SILENCED, [since, account, ...(after ?? [null, null, null]), maxRows])
}

const SILENCED = `
  select account, id::text, name, team, at, what, fields, updater_name as by, began, ended, while_firing as is_while_firing,
    at::text as exact_at
  from ferry.silenced($1) s
  where account = coalesce($2, account)
    and ($3::timestamptz is null or s.at < $3 or (s.at = $3 and (s.account, s.id) > ($4, $5::numeric)))
  order by s.at desc, s.account, s.id limit $6`
