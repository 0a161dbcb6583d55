import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'
import type { Resource } from '#src/model/resource.ts'

/** A time of which nothing is known: no reading of the inventory was complete for longer than its freshness target. */
const Blind = z.object({
  account: z.string(),
  /** Null: nothing was read before. */
  since: z.date().nullable(),
  /** Null: it has not ended. */
  until: z.date().nullable(),
})
export type Blind = Readonly<z.infer<typeof Blind>>

/**
 * The times between two instants of which nothing is known of an inventory, as `ferry.around` has them; of each account if
 * `account` is null.
 */
export function listBlind(
  pool: Pool,
  { account, resource }: { readonly account: string | null; readonly resource: Resource },
  { from, to }: { readonly from: Date; readonly to: Date },
): Promise<Blind[]> {
  return findAll(
    pool,
    Blind,
    `select account, since_applied as since, applied_at as until from ferry_internal.readings_between($1, $2)
     where is_blind and account = coalesce($3, account) and inventory = $4 order by applied_at nulls last`,
    [from, to, account, resource],
  )
}
