import type { Pool } from 'pg'
import type { Period } from './period.ts'

/** A row of the report `silenced`: a rule was disabled, removed or edited while it fired or soon after. */
export type SilencedRule = {
  readonly account: string
  readonly id: string
  readonly name: string
  readonly team: string | null
  readonly at: Date
  readonly what: 'disabled' | 'removed' | 'edited'
  /** Null for a removal. */
  readonly fields: readonly string[] | null
  readonly by: string | null
  readonly began: Date
  readonly ended: Date | null
  readonly isWhileFiring: boolean
  /** `at` as Postgres writes it, to the microsecond: for the place in the list. */
  readonly exactAt: string
}

/** The row after which a list goes on. */
export type AfterSilenced = readonly [exactAt: string, account: string, id: string]

/** Returns what was silenced since a time, the newest first. */
export async function loadSilenced(
  reader: Pool,
  { since, account }: Period,
  after: AfterSilenced | null,
  maxRows: number,
): Promise<SilencedRule[]> {
  const { rows } = await reader.query<SilencedRule>(SILENCED, [
    since,
    account,
    ...(after ?? [null, null, null]),
    maxRows,
  ])
  return rows
}

const SILENCED = `
  select account, id::text, name, team, at, what, fields, updater_name as by, began, ended, while_firing as "isWhileFiring",
    at::text as "exactAt"
  from ferry.silenced($1) s
  where account = coalesce($2, account)
    and ($3::timestamptz is null or s.at < $3 or (s.at = $3 and (s.account, s.id) > ($4, $5::numeric)))
  order by s.at desc, s.account, s.id limit $6`
