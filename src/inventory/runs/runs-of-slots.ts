import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, Int8 } from '#src/db/rows.ts'

/** A time at which a schedule of an account was due. */
type Slot = { readonly account: string; readonly slot: Date; readonly doneAt: Date | null }

const RunOfSlot = z.object({ account: z.string(), slot: z.date(), run: Int8 })
export type RunOfSlot = Readonly<z.infer<typeof RunOfSlot>>

/** For each slot that started runs, one of them: the first that did not simply succeed, or the first. */
export function listRunsOfSlots(pool: Pool, slots: readonly Slot[]): Promise<RunOfSlot[]> {
  return findAll(
    pool,
    RunOfSlot,
    `select r.account, r.slot, r.id as run
     from unnest($1::text[], $2::timestamptz[], $3::timestamptz[]) as s (account, slot, done_at)
     cross join lateral (
       select r.account, r.slot, r.id from ferry.sync_runs r
       where r.account = s.account and r.slot = s.slot
         and r.started_at between s.slot and coalesce(s.done_at, 'infinity')
       order by r.status = 'succeeded', r.id limit 1) r`,
    [slots.map(({ account }) => account), slots.map(({ slot }) => slot), slots.map(({ doneAt }) => doneAt)],
  )
}
