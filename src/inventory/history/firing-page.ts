import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, keyInstant } from '#src/db/rows.ts'

const PagedFiring = z.object({
  began: z.date(),
  /** Null: it is still firing. */
  ended: z.date().nullable(),
  /** When it began, as text that sorts. */
  key: z.string(),
})
export type PagedFiring = Readonly<z.infer<typeof PagedFiring>>

/** The firings of a rule, the newest first: those that began before `before`, or by then if `isIncluded`. */
export function loadFiringPage(
  pool: Pool,
  rule: { readonly account: string; readonly id: string },
  before: { readonly at: string; readonly isIncluded: boolean } | null,
  rows: number,
): Promise<PagedFiring[]> {
  return findAll(
    pool,
    PagedFiring,
    `select began, ended, ${keyInstant('began')} as key from ferry.alert_rule_firings
     where id = $1::numeric and account = $2 and began <= $3::timestamptz and ($4 or began < $3::timestamptz)
     order by began desc limit $5`,
    [rule.id, rule.account, before?.at ?? 'infinity', before?.isIncluded ?? true, rows],
  )
}
