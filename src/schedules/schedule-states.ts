import type { Pool } from 'pg'
import { z } from 'zod'
import { CLOCK_MS_IN_SQL, type ClockReading, clockReading } from '#src/db/clock.ts'
import { findAll, findValue } from '#src/db/rows.ts'
import type { ScheduleKey } from './definition.ts'
import { loadFreeInMs, retryInMsInSql } from './free-slot.ts'

/** The facts in Postgres that decide whether a schedule is due. */
export type ScheduleState = {
  readonly paused: boolean
  /** Whether the slot asked about has a row: a worker took it, with any outcome. */
  readonly taken: boolean
  /** Whether it never had a slot. */
  readonly isNew: boolean
  /** The latest unfinished slot; `manual` if a person asked for it, which a pause does not keep from running. */
  readonly open: { readonly slot: Date; readonly freeInMs: number; readonly manual: boolean } | null
}

/** Returns the states in the order of `asked`, and the database's clock at that moment; null if nothing is asked. */
export async function loadScheduleStates(
  pool: Pool,
  asked: readonly (ScheduleKey & { readonly slot: Date })[],
): Promise<{ readonly clock: ClockReading | null; readonly states: readonly ScheduleState[] }> {
  const askedAtMs = performance.now()
  const states = await findAll(pool, StateRow, LOAD_STATES, [
    asked.map(a => a.schedule),
    asked.map(a => a.account),
    asked.map(a => a.slot),
  ])
  const [first] = states
  const clock = first ? clockReading(first.clockMs, askedAtMs) : null
  const freeInMs = await loadFreeInMs(
    pool,
    states.flatMap(state => (state.slot ? [state] : [])),
  )
  return {
    clock,
    states: states.map(({ paused, taken, isNew, ...open }) => ({
      paused,
      taken,
      isNew,
      open: open.slot && { slot: open.slot, manual: open.manual, freeInMs: freeInMs(open) },
    })),
  }
}

const Common = z.object({
  schedule: z.string(),
  account: z.string(),
  paused: z.boolean(),
  taken: z.boolean(),
  isNew: z.boolean(),
  clockMs: z.number(),
})

/** With the latest unfinished slot, if there is one. */
const StateRow = z.union([
  Common.extend({ slot: z.date(), manual: z.boolean(), retryInMs: z.number() }),
  Common.extend({ slot: z.null() }),
])

/** Whether a schedule had a slot between two times, both excluded. */
export function hasSlotBetween(
  pool: Pool,
  { schedule, account }: ScheduleKey,
  after: Date,
  before: Date,
): Promise<boolean> {
  return findValue(
    pool,
    z.boolean(),
    `select exists (
       select from ferry.schedule_slots where account = $1 and schedule = $2 and slot > $3 and slot < $4) as has_slot`,
    [account, schedule, after, before],
  )
}

const LOAD_STATES = `
  select a.schedule, a.account,
    exists (select from ferry.schedule_pauses p where p.schedule = a.schedule and p.account = a.account) as paused,
    exists (select from ferry.schedule_slots t
            where t.account = a.account and t.schedule = a.schedule and t.slot = a.slot) as taken,
    not exists (select from ferry.schedule_slots t
                where t.account = a.account and t.schedule = a.schedule) as is_new,
    o.slot, o.manual, ${retryInMsInSql('o')} as retry_in_ms, ${CLOCK_MS_IN_SQL} as clock_ms
  from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as a (schedule, account, slot, position)
  left join lateral (
    select * from ferry.schedule_slots u
    where u.account = a.account and u.schedule = a.schedule and u.done_at is null
    order by u.slot desc limit 1) o on true
  order by a.position`
