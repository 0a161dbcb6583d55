import type { PoolClient } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import type { Inventory } from '#src/model/resource.ts'

/**
 * Returns the instant at which a run's changes take effect, as Postgres writes it: a JavaScript Date has no microseconds.
 *
 * It is the time of the database, but later than every earlier run of the inventory and every snapshot of the account,
 * even if the database's clock was set back: what a snapshot shows never changes.
 */
export async function chooseInstant(client: PoolClient, { account, resource }: Inventory): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select greatest(clock_timestamp(), interval '1 microsecond' + greatest(
       (select applied_at from ferry.sync_runs
        where account = $1 and resource = $2 and applied_at is not null order by id desc limit 1),
       (select max(taken_at) from ferry.snapshots where account = $1)))::text as at`,
    [account, resource],
  )
  return onlyRow(rows, 'the choice of the instant').at
}
