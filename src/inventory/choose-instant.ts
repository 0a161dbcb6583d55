import type { PoolClient } from 'pg'
import { onlyRow } from '#src/db/rows.ts'
import type { Inventory } from '#src/model/resource.ts'

/** The latest instant that a run of the inventory or a snapshot of the account has. */
const LATEST = `greatest(
  (select applied_at from ferry.sync_runs
   where account = $1 and resource = $2 and applied_at is not null order by id desc limit 1),
  (select max(taken_at) from ferry.snapshots where account = $1))`

/** A snapshot was taken while a run with an earlier instant was being written. It was not applied: the next run is. */
export class InstantPassed extends Error {
  override readonly name = 'InstantPassed'
}

/**
 * Returns the instant at which a run's changes take effect, as Postgres writes it: a JavaScript Date has no microseconds.
 *
 * It is the time of the database, but later than every earlier run of the inventory and every snapshot of the account,
 * even if the database's clock was set back: what a snapshot shows never changes.
 */
export async function chooseInstant(client: PoolClient, { account, resource }: Inventory): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select greatest(clock_timestamp(), interval '1 microsecond' + ${LATEST})::text as at`,
    [account, resource],
  )
  return onlyRow(rows, 'the choice of the instant').at
}

/** Whether the instant is still later than every run of the inventory and every snapshot of the account. */
export async function isStillFree(
  client: PoolClient,
  { account, resource }: Inventory,
  at: string,
): Promise<boolean> {
  const { rows } = await client.query<{ free: boolean }>(
    `select coalesce($3::timestamptz > ${LATEST}, true) as free`,
    [account, resource, at],
  )
  return onlyRow(rows, 'the check of the instant').free
}
