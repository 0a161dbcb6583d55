import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type ClockReading, readClock } from '#src/db/clock.ts'
import { and, drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { installation } from '#src/db/schema.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { Trigger } from '#src/model/run.ts'
import type { Schedule, ScheduleKey } from './definition.ts'
import { inMs } from './free-slot.ts'
import { hasSlotBetween, loadScheduleStates, type ScheduleState } from './schedule-states.ts'
import { scheduleSlots } from './schema.ts'
import { slotAfter, slotAt, type Timing } from './timing.ts'

export type Due = { readonly slot: Date; readonly trigger: Trigger }

/** Finds what is due, by the facts in Postgres and by its clock: every worker finds the same, even if its own clock is wrong. */
export type DueNow = {
  readonly due: readonly { readonly schedule: Schedule; readonly slot: Due }[]
  /** Unfinished slots that may be tried again later: they failed, or are under way. */
  readonly later: readonly { readonly schedule: Schedule; readonly slot: Date; readonly freeInMs: number }[]
  /** In how many milliseconds something may be due that is not due now; Infinity if nothing will. */
  readonly nextInMs: number
  readonly clock: ClockReading
}

/** Which of the missed slots are still due. */
export type DuePolicy = {
  /** A slot that was missed while no worker was up is caught up with if it is younger than this. */
  readonly catchUpMs: number
  /** Cron times before this were not missed. */
  readonly installedAt: Date
}

/**
 * Since when a schedule has the times that it has; null if it always had, or if that is not known. Asked only about a slot that would
 * be caught up with.
 */
export type TimedSince = (pool: Pool, schedule: ScheduleKey) => Promise<Date | null>

/** A schedule with its latest and its next time. */
type Timed = Schedule & { readonly slot: Date; readonly next: Date }

/** Finds what is due. Remembers the database's clock, so that a look costs one statement. */
export class DueFinder {
  readonly #pool: Pool
  readonly #log: Logger
  readonly #policy: DuePolicy
  readonly #timedSince: TimedSince
  /** The difference between the database's time, as it was read last, and `performance.now()`. */
  #clockOffsetMs: number | null = null
  /** Timings whose next time cannot be computed, which was logged. */
  readonly #broken = new Set<string>()
  /**
   * The last times of each timing, as long as they hold. Accounts may share a timing, and a cron time takes milliseconds to compute:
   * where clocks change, up to seconds.
   */
  readonly #times = new WeakMap<Timing, Times>()

  constructor({
    pool,
    log,
    catchUpMs,
    installedAt,
    timedSince = async () => null,
  }: DuePolicy & { readonly pool: Pool; readonly log: Logger; readonly timedSince?: TimedSince }) {
    this.#pool = pool
    this.#timedSince = timedSince
    this.#log = log
    this.#policy = { catchUpMs, installedAt }
  }

  async find(schedules: readonly Schedule[]): Promise<DueNow> {
    const { clock, timed, states } = await this.#loadStates(schedules)
    const due: { schedule: Schedule; slot: Due }[] = []
    const later: { schedule: Schedule; slot: Date; freeInMs: number }[] = []
    let nextInMs = Number.POSITIVE_INFINITY
    for (const [index, schedule] of timed.entries()) {
      const state = states[index]
      if (!state) continue
      const slot = (await this.#decide(schedule, state, clock.now)) ?? (await this.#begin(schedule, state))
      if (slot) due.push({ schedule, slot })
      else if (state.open && state.open.freeInMs > 0) later.push({ schedule, ...state.open })
      nextInMs = Math.min(nextInMs, schedule.next.getTime() - clock.now.getTime(), freeInMs(state))
    }
    return { due, later, nextInMs, clock }
  }

  /** A time that was moved to earlier was not missed, if the schedule had a slot since the time before it: that one stands for it. */
  async #decide(schedule: Timed, state: ScheduleState, now: Date): Promise<Due | null> {
    const due = decideDue(schedule, state, this.#policy, now)
    if (due?.trigger !== 'catch-up') return due
    const since = await this.#timedSince(this.#pool, schedule)
    if (since === null || since <= due.slot) return due
    const before = slotAt(schedule.timing, new Date(due.slot.getTime() - 1))
    if (!(await hasSlotBetween(this.#pool, schedule, before, due.slot))) return due
    return decideDue(schedule, { ...state, taken: true }, this.#policy, now)
  }

  /**
   * Asks for the slots of about now, which also tells the time: one statement for every look of every worker. If other
   * slots are the latest by then, because one has just begun or the machine slept, it asks again.
   */
  async #loadStates(schedules: readonly Schedule[]) {
    const offsetMs = this.#clockOffsetMs
    const guess = offsetMs === null ? null : this.#timesOf(schedules, new Date(performance.now() + offsetMs))
    const found = guess && (await loadScheduleStates(this.#pool, guess))
    const now = found?.clock?.now
    if (guess && found?.clock && now && guess.every(one => areOf(now, one))) {
      this.#clockOffsetMs = now.getTime() - performance.now()
      return { clock: found.clock, timed: guess, states: found.states }
    }
    const clock = await readClock(this.#pool)
    this.#clockOffsetMs = clock.now.getTime() - performance.now()
    const timed = this.#timesOf(schedules, clock.now)
    return { clock, timed, states: (await loadScheduleStates(this.#pool, timed)).states }
  }

  /** The first slot of a schedule that begins at once is the moment at which a worker first looks at it. */
  async #begin(schedule: Schedule, state: ScheduleState): Promise<Due | null> {
    if (!schedule.beginsAtOnce || !state.isNew || state.paused) return null
    const slot = await addFirstSlot(this.#pool, schedule)
    return slot && { slot, trigger: 'schedule' }
  }

  #timesOf(schedules: readonly Schedule[], now: Date): Timed[] {
    return schedules.flatMap(schedule => {
      const times = this.#timesUnlessBroken(schedule.timing, now)
      return times ? [{ ...schedule, ...times }] : []
    })
  }

  /** A time that cannot be computed must stop no other schedule; it is logged once. */
  #timesUnlessBroken(timing: Timing, now: Date): Times | null {
    const last = this.#times.get(timing)
    if (last && areOf(now, last)) return last
    try {
      const times = { slot: slotAt(timing, now), next: slotAfter(timing, now) }
      this.#times.set(timing, times)
      return times
    } catch (error) {
      const name = JSON.stringify(timing)
      if (!this.#broken.has(name)) {
        this.#log.error({ timing, error: reasonOf(error) }, 'The next time of a schedule cannot be computed.')
      }
      this.#broken.add(name)
      return null
    }
  }
}

/** The latest time that a timing names, and the one after it. */
type Times = { readonly slot: Date; readonly next: Date }

function areOf(now: Date, { slot, next }: Times): boolean {
  return slot <= now && now < next
}

/** A slot or a retry that is this late still counts as on time, whatever `FERRY_CATCH_UP` says. */
const ON_TIME_MS = 30_000

/**
 * Decides which slot of a schedule is due now, at most one: the latest, if nobody took it and it is young enough; else the
 * latest that is unfinished and free again (it failed, was given back, or its worker died). A hundred missed slots are one
 * run. What a person asked for is due however late.
 *
 * Cron times from before Ferry was installed were not missed; a schedule with an interval simply begins. All times are the
 * database's.
 */
export function decideDue(
  schedule: Pick<Timed, 'timing' | 'slot' | 'isNeverTooLate'>,
  { taken, paused, open }: Omit<ScheduleState, 'isNew'>,
  { catchUpMs, installedAt }: DuePolicy,
  now: Date,
): Due | null {
  const { timing, slot: latest } = schedule
  const graceMs = graceOf(schedule, catchUpMs)
  const lateMs = now.getTime() - latest.getTime()
  const wasDue = 'everyMs' in timing || (latest >= installedAt && lateMs <= graceMs)
  if (!taken && !paused && wasDue && lateMs >= 0) {
    return { slot: latest, trigger: triggerOf(timing, lateMs) }
  }
  if (!open || open.freeInMs > 0) return null
  if (open.manual) return { slot: open.slot, trigger: 'manual' }
  return paused || -open.freeInMs > graceMs ? null : { slot: open.slot, trigger: 'schedule' }
}

/** For how long after its time a slot of a schedule is still due. */
export function graceOf({ isNeverTooLate }: Pick<Schedule, 'isNeverTooLate'>, catchUpMs: number): number {
  return isNeverTooLate ? Number.POSITIVE_INFINITY : Math.max(catchUpMs, ON_TIME_MS)
}

/** A schedule with an interval catches up with nothing: its latest slot is the current one. */
function triggerOf(timing: Timing, lateMs: number): Trigger {
  return 'cron' in timing && lateMs > ON_TIME_MS ? 'catch-up' : 'schedule'
}

function freeInMs({ open }: ScheduleState): number {
  return open && open.freeInMs > 0 ? open.freeInMs : Number.POSITIVE_INFINITY
}

/**
 * Records the first slot of a schedule: its time is now. Null if the schedule has one, or had one. Of many workers that
 * try at once, one succeeds: the row of the installation is their lock.
 */
export function addFirstSlot(pool: Pool, { schedule, account }: ScheduleKey): Promise<Date | null> {
  return inTransaction(pool, async client => {
    const db = drizzleOf(client)
    await db.select({ only: installation.only }).from(installation).for('update')
    const isOf = and(eq(scheduleSlots.account, account), eq(scheduleSlots.schedule, schedule))
    const [any] = await db.select({ slot: scheduleSlots.slot }).from(scheduleSlots).where(isOf).limit(1)
    if (any) return null
    const first = { account, schedule, slot: inMs(0), retry_at: sql`clock_timestamp()` }
    const rows = await db.insert(scheduleSlots).values(first).returning({ slot: scheduleSlots.slot })
    return onlyRow(rows, 'the insert of a first slot').slot
  })
}
