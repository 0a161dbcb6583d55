import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findValue } from '#src/db/rows.ts'
import { endOfMillisecond } from '#src/model/instant.ts'
import type { Resource } from '#src/model/resource.ts'

/** From when on the history is complete; null: from the beginning, since nothing of it was removed. */
export function loadHistoryStart(pool: Pool): Promise<Date | null> {
  return findValue(pool, z.date().nullable(), `select nullif(ferry.history_start(), '-infinity')`)
}

/** Fails with the code `HISTORY_REMOVED` if the history starts later. */
export async function expectHistory(pool: Pool, asOf: Date): Promise<void> {
  await pool.query('select ferry_internal.expect_history($1)', [endOfMillisecond(asOf)])
}

/** From when on all runs are kept; null: from the beginning, since none was removed. */
export function loadRunsStart(pool: Pool): Promise<Date | null> {
  return findValue(pool, z.date().nullable(), 'select (select runs_start_at from ferry.history)')
}

/** Whether anything was ever stored: if not, an empty list does not mean that nothing is there. */
export function isAnythingRead(pool: Pool): Promise<boolean> {
  return findValue(
    pool,
    z.boolean(),
    'select exists (select from ferry.sync_runs where applied_at is not null)',
  )
}

/** When an inventory of an account was stored for the first time. */
const FirstReading = z.object({ account: z.string(), at: z.date() })
export type FirstReading = Readonly<z.infer<typeof FirstReading>>

/** Returns when each account's inventory was first stored, by account; those that never were are left out. */
export function listFirstReadings(
  pool: Pool,
  resource: Resource,
  account: string | null,
): Promise<FirstReading[]> {
  return findAll(
    pool,
    FirstReading,
    `select k.account, r.applied_at as at
     from ferry.inventories k cross join lateral (
       select r.applied_at from ferry.sync_runs r
       where r.account = k.account and r.resource = k.inventory and r.applied_at is not null
       order by r.id limit 1
     ) r
     where k.inventory = $1 and ($2::text is null or k.account = $2)
     order by k.account`,
    [resource, account],
  )
}
