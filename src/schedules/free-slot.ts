import type { Pool, PoolClient } from 'pg'
import { sql } from '#src/db/drizzle.ts'
import { loadLeaseEnds } from '#src/db/lease-rows.ts'
import { type OldRows, oldRows } from '#src/db/prune.ts'
import { DAY_MS } from '#src/model/duration.ts'
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

/** A time from now, in whole milliseconds like a JavaScript Date, so that a slot is found again by its time. */
export function inMs(ms: number) {
  return sql`date_trunc('milliseconds', clock_timestamp()) + ${ms}::int * interval '1 ms'`
}

/** Long enough to see how a schedule did. */
const KEEP_SLOTS_MS = 30 * DAY_MS

/**
 * Old slots. The latest slot of a schedule that was done stays: that it was is what keeps it from being done again. One that was not,
 * and that nobody has tried for as long, goes: no worker has the schedule or the account any more.
 */
export function oldSlots(pool: Pool): OldRows {
  return oldRows(pool, {
    table: 'ferry.schedule_slots',
    keepMs: KEEP_SLOTS_MS,
    isOld: `r.slot < $1::timestamptz and case when r.done_at is null then r.retry_at < $1::timestamptz else exists (
      select from ferry.schedule_slots later
      where later.account = r.account and later.schedule = r.schedule and later.slot > r.slot) end`,
  })
}
