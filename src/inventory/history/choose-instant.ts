import type { PoolClient } from 'pg'
import { z } from 'zod'
import { findValue } from '#src/db/rows.ts'
import type { Inventory } from '#src/model/resource.ts'

/** A snapshot was taken while a run with an earlier instant was being written. It was not applied: the next run is. */
export class InstantPassed extends Error {
  override readonly name = 'InstantPassed'
}

/**
 * Returns the instant at which a run's changes take effect, as Postgres writes it: a JavaScript Date has no microseconds.
 *
 * It is the time of the database, but later than everything that was applied before and every snapshot of the account, and
 * not before the run's start, even if the database's clock was set back: what a snapshot shows never changes, and neither
 * does what `ferry.settled_at()` says is settled. The run's row must be committed by now.
 */
export function chooseInstant(
  client: PoolClient,
  { account }: Pick<Inventory, 'account'>,
  runId: bigint,
): Promise<string> {
  return findValue(
    client,
    z.string(),
    `select greatest(
       clock_timestamp(),
       (select started_at from ferry.sync_runs where id = $2),
       interval '1 microsecond' + greatest(
         (select applied_at from ferry.sync_runs where applied_at is not null order by applied_at desc limit 1),
         (select max(taken_at) from ferry.snapshots where account = $1))
     )::text`,
    [account, runId],
  )
}

/** Whether the instant is still later than every run of the inventory and every snapshot of the account. */
export function isStillFree(
  client: PoolClient,
  { account, resource }: Inventory,
  at: string,
): Promise<boolean> {
  return findValue(
    client,
    z.boolean(),
    `select coalesce($3::timestamptz > greatest(
       (select applied_at from ferry.sync_runs
        where account = $1 and resource = $2 and applied_at is not null order by id desc limit 1),
       (select max(taken_at) from ferry.snapshots where account = $1)), true)`,
    [account, resource, at],
  )
}
