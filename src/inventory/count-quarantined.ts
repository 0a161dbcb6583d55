import type { Pool, PoolClient } from 'pg'
import type { Inventory } from '#src/model/resource.ts'

/** Returns how many rows the last run that read each of these inventories could not read; none for one that was never read. */
export async function countQuarantined(
  client: Pool | PoolClient,
  inventories: readonly Inventory[],
): Promise<(Inventory & { readonly rows: number })[]> {
  const { rows } = await client.query<Inventory & { readonly rows: number }>(
    `select a.account, a.resource, r.quarantined as rows
     from unnest($1::text[], $2::text[]) as a (account, resource)
     cross join lateral (
       select s.quarantined from ferry.sync_runs s
       where s.account = a.account and s.resource = a.resource and s.status in ('succeeded', 'partial', 'held')
       order by s.id desc limit 1) r`,
    [inventories.map(({ account }) => account), inventories.map(({ resource }) => resource)],
  )
  return rows
}
