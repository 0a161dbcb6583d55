import { z } from 'zod'
import { findAll, type Queryable } from '#src/db/rows.ts'
import type { Schedule, ScheduleKey } from './definition.ts'
import { graceOf } from './find-due.ts'
import { slotAfter, slotAt, type Timing } from './timing.ts'

/** One line of `ferry schedules list`. */
export type ScheduleRow = {
  readonly name: string
  /** `*` for a schedule that is not per account. */
  readonly account: string
  /** Either this, */
  readonly everyMs: number | null
  /** or this, read in this time zone. */
  readonly cron: string | null
  readonly timezone: string | null
  readonly paused: boolean
  /** Null while paused. */
  readonly nextAt: Date | null
  readonly lastSlot: Date | null
  /** Null while the last slot is under way or waits to be tried again. */
  readonly lastOutcome: string | null
}

/** All from Postgres, in one query, and the settings: it needs no queue. */
export async function listSchedules(
  client: Queryable,
  schedules: readonly Schedule[],
): Promise<ScheduleRow[]> {
  const rows = await loadKnown(client, schedules)
  // Accounts may share a timing, and a cron time takes milliseconds to compute.
  const next = new Map<Timing, Date>()
  return schedules.flatMap(({ schedule, account, timing }, index) => {
    const known = rows[index]
    if (!known) return []
    const { paused, slot, outcome, now } = known
    const nextAt = next.get(timing) ?? slotAfter(timing, now)
    next.set(timing, nextAt)
    return {
      name: schedule,
      account,
      everyMs: 'everyMs' in timing ? timing.everyMs : null,
      cron: 'cron' in timing ? timing.cron : null,
      timezone: 'cron' in timing ? timing.timezone : null,
      paused,
      nextAt: paused ? null : nextAt,
      lastSlot: slot,
      lastOutcome: outcome,
    }
  })
}

/** When the next slot of a schedule is due that no worker has taken. */
export type NextSlot = ScheduleKey & { readonly at: Date }

/**
 * Returns the next slot of each of these schedules after the last one that a worker took: if it is past, no worker takes
 * it. One that is too old to be caught up with is not waited for. Leaves out schedules that are paused or never had a slot.
 */
export async function listNextSlots(
  client: Queryable,
  schedules: readonly Schedule[],
  catchUpMs: number,
): Promise<NextSlot[]> {
  const rows = await loadKnown(client, schedules)
  return schedules.flatMap((one, index) => {
    const { schedule, account } = one
    const known = rows[index]
    if (!known?.slot || known.paused) return []
    return { schedule, account, at: nextOf(one, known.slot, graceOf(one, catchUpMs), known.now) }
  })
}

function nextOf({ timing }: Schedule, taken: Date, graceMs: number, now: Date): Date {
  const next = slotAfter(timing, taken)
  if ('everyMs' in timing || next >= now) return next
  const latest = slotAt(timing, now)
  return now.getTime() - latest.getTime() > graceMs ? slotAfter(timing, now) : latest
}

function loadKnown(client: Queryable, schedules: readonly Schedule[]) {
  return findAll(client, KnownRow, KNOWN, [
    schedules.map(({ schedule }) => schedule),
    schedules.map(({ account }) => account),
  ])
}

const KnownRow = z.object({
  paused: z.boolean(),
  slot: z.date().nullable(),
  outcome: z.string().nullable(),
  now: z.date(),
})

/** One look into the index for each schedule: a schedule may have had 43,200 slots in a month. */
const KNOWN = `
  select exists (select from ferry.schedule_pauses p where p.schedule = a.schedule and p.account = a.account) as paused,
    s.slot, s.outcome, clock_timestamp() as now
  from unnest($1::text[], $2::text[]) with ordinality as a (schedule, account, position)
  left join lateral (
    select t.slot, t.outcome from ferry.schedule_slots t
    where t.account = a.account and t.schedule = a.schedule
    order by t.slot desc limit 1) s on true
  order by a.position`
