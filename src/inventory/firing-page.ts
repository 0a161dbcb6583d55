import type { Pool } from 'pg'
import { keyInstant } from './key-instant.ts'

export type PagedFiring = {
  readonly began: Date
  /** Null: it still fires. */
  readonly ended: Date | null
  /** When it began, as text that sorts. */
  readonly key: string
}

/** The firings of a rule, the newest first: those that began before `before`, or by then if `isIncluded`. */
export async function loadFiringPage(
  pool: Pool,
  rule: { readonly account: string; readonly id: string },
  before: { readonly at: string; readonly isIncluded: boolean } | null,
  rows: number,
): Promise<PagedFiring[]> {
  const page = await pool.query<PagedFiring>(
    `select began, ended, ${keyInstant('began')} as key from ferry.alert_rule_firings
     where id = $1::numeric and account = $2 and began <= $3::timestamptz and ($4 or began < $3::timestamptz)
     order by began desc limit $5`,
    [rule.id, rule.account, before?.at ?? 'infinity', before?.isIncluded ?? true, rows],
  )
  return page.rows
}
