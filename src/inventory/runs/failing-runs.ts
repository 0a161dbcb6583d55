import { z } from 'zod'
import { findAll, type Queryable } from '#src/db/rows.ts'
import { RESOURCES } from '#src/model/resource.ts'

const Failing = z.object({
  account: z.string(),
  inventory: z.enum(RESOURCES),
  /** The last run, and why it failed. */
  run: z.string(),
  code: z.string().nullable(),
})

/** An inventory is failing once this many runs in a row failed. One may be bad luck. */
const FAILED_IN_A_ROW = 3

/** Returns the inventories of these accounts that are failing. A skipped run tried nothing, so it does not count. */
export function listFailing(
  client: Queryable,
  accounts: readonly string[],
): Promise<z.infer<typeof Failing>[]> {
  return findAll(
    client,
    Failing,
    `select a.account, i.inventory, last.run, last.code
     from unnest($1::text[]) a (account) cross join unnest($2::text[]) i (inventory)
     cross join lateral (
       select count(*) filter (where status = 'failed') as failed, max(id)::text as run,
         (array_agg(error_code order by id desc))[1] as code
       from (
         select id, status, error_code from ferry.sync_runs r
         where r.account = a.account and r.resource = i.inventory and status not in ('running', 'skipped')
         order by id desc limit $3
       ) runs
     ) last
     where last.failed = $3`,
    [accounts, RESOURCES, FAILED_IN_A_ROW],
  )
}
