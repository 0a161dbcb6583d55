import type { Pool, PoolClient } from 'pg'
import { loadLeaseEnds } from '#src/db/lease-rows.ts'
import type { ScheduleKey } from './definition.ts'

/*
 * When a slot is free, so that a worker may take it: it is not done, its `retry_at` has come, and nobody has its lease. SQL
 * checks the row; the end of the lease is read beside it, because the name of a lease is made here, in TypeScript.
 */

/** SQL that says whether the row of a slot lets it be taken now; `s` is the row's name in the query. */
export function mayBeTriedInSql(s: string): string {
  return `${s}.done_at is null and ${s}.retry_at <= clock_timestamp()`
}

/** SQL for the milliseconds until `retry_at`; less than 0 once it has come. */
export function retryInMsInSql(s: string): string {
  return `extract(epoch from ${s}.retry_at - clock_timestamp())::float8 * 1000`
}

export type OpenSlot = ScheduleKey & { readonly slot: Date; readonly retryInMs: number }

/**
 * Returns a function that says in how many milliseconds one of these unfinished slots is free; 0 or less if it is free
 * now, by how long it has been.
 */
export async function loadFreeInMs(
  client: Pool | PoolClient,
  slots: readonly OpenSlot[],
): Promise<(slot: OpenSlot) => number> {
  const leaseEnds = await loadLeaseEnds(
    client,
    slots.map(one => slotLeaseName(one, one.slot)),
  )
  return one => Math.max(one.retryInMs, leaseEnds.get(slotLeaseName(one, one.slot)) ?? -Infinity)
}

/** The name of the lease under which a slot is done. */
export function slotLeaseName({ schedule, account }: ScheduleKey, slot: Date): string {
  return `slot:${schedule}:${account}:${slot.toISOString()}`
}
