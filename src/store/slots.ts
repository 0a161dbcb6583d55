import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { inTransaction, queryWithin } from './database.ts'
import { isPassing } from './patience.ts'
import type { ScheduleKey } from './schedules.ts'

/*
 * A slot is one time a schedule was due; whoever inserts or takes its row works on it.
 *
 *               take              settle
 *     (no row) ──────► at work ──────────► done
 *                        │  ▲
 *      reopen, or died   ▼  │ take
 *                       waiting
 *
 * `retry_at` says from when on anybody may take an unfinished slot. The worker at it keeps moving that forward, so the
 * slot of a dead worker is free soon after, and one that failed is free when its pause is over. It is also the
 * token of the worker's hold: a slot can only be taken after its `retry_at`, so no two holds have the same.
 */

/**
 * A worker that dies leaves its slot free after 15.5 to 18 s. The lease of a sync (15 s, renewed every 5 s) is out
 * by then, so that the run that follows is not skipped because of a ghost, and begins within 8 s of the lease's end.
 */
const HOLD_MS = 18_000
const RENEW_EVERY_MS = 2_500

export type Hold = {
  readonly slot: Date
  /** How often this slot was begun, this time included. */
  readonly attempts: number
  /** Aborts once the slot may have been taken by another worker. */
  readonly signal: AbortSignal
  /** Closes the slot. If `supersedes`, older slots that still wait are closed too: their work is done by this one. */
  settle(outcome: string, supersedes: boolean): Promise<void>
  /** Leaves the slot to whoever comes in `afterMs`; `spent` is whether this counts as an attempt. */
  reopen(afterMs: number, spent: boolean): Promise<void>
}

/**
 * Takes a slot, and keeps it until it is settled or reopened. Null if it is done, in other hands or waiting to be tried
 * again, or if its schedule is paused (unless `evenIfPaused`).
 */
export async function takeSlot(
  pool: Pool,
  key: ScheduleKey,
  slot: Date,
  { evenIfPaused, log }: { readonly evenIfPaused: boolean; readonly log: Logger },
): Promise<Hold | null> {
  const { rows } = await pool.query<{ attempts: number; retry_at: Date }>(
    `insert into ferry.schedule_slots as s (account, schedule, slot, attempts, retry_at)
     select $1, $2, $3::timestamptz, 1, ${inMs('$4')}
     where $5::boolean or not exists (select from ferry.schedule_pauses p where p.schedule = $2 and p.account = $1)
     on conflict (account, schedule, slot) do update set attempts = s.attempts + 1, retry_at = excluded.retry_at
       where s.done_at is null and s.retry_at <= clock_timestamp()
     returning attempts, retry_at`,
    [key.account, key.schedule, slot, HOLD_MS, evenIfPaused],
  )
  const [row] = rows
  return row ? keepSlot(pool, key, slot, row, log) : null
}

function keepSlot(
  pool: Pool,
  key: ScheduleKey,
  slot: Date,
  row: { attempts: number; retry_at: Date },
  log: Logger,
): Hold {
  const lost = new AbortController()
  let until = row.retry_at
  const where = `where account = $1 and schedule = $2 and slot = $3 and retry_at = $4 and done_at is null`
  const held = () => [key.account, key.schedule, slot, until]

  const giveUp = () => lost.abort(new Error('this slot was not renewed in time; another worker may be at it'))
  let expiry = setTimeout(renewOrGiveUp, HOLD_MS)
  let renewing = Promise.resolve(true)
  const timer = setInterval(() => {
    renewing = renewing.then(renew)
  }, RENEW_EVERY_MS)

  async function renew(): Promise<boolean> {
    const askedAt = performance.now()
    try {
      const { rows } = await queryWithin<{ retry_at: Date }>(
        pool,
        2 * RENEW_EVERY_MS,
        `update ferry.schedule_slots set retry_at = ${inMs('$5')} ${where} returning retry_at`,
        [...held(), HOLD_MS],
      )
      clearTimeout(expiry)
      if (!rows[0]) {
        giveUp()
        return false
      }
      until = rows[0].retry_at
      expiry = setTimeout(renewOrGiveUp, Math.max(HOLD_MS - (performance.now() - askedAt), 1))
      return true
    } catch (error) {
      log[isPassing(error) ? 'debug' : 'warn'](
        { error: reasonOf(error), ...key },
        'the hold on a slot could not be renewed',
      )
      return false
    }
  }

  /** A process that stood still for so long may have it yet: only Postgres knows. */
  function renewOrGiveUp(): void {
    renewing = renewing.then(renew).then(renewed => {
      if (!renewed) giveUp()
      return renewed
    })
  }

  async function stopRenewing(): Promise<void> {
    clearInterval(timer)
    await renewing
    clearTimeout(expiry)
  }

  return {
    slot,
    attempts: row.attempts,
    signal: lost.signal,
    async settle(outcome, supersedes) {
      await stopRenewing()
      await pool.query(
        `with settled as (
           update ferry.schedule_slots set done_at = clock_timestamp(), retry_at = null, outcome = $5 ${where}
           returning slot
         )
         update ferry.schedule_slots o set done_at = clock_timestamp(), retry_at = null, outcome = 'superseded'
         from settled s
         where $6::boolean and o.account = $1 and o.schedule = $2 and o.slot < s.slot and o.done_at is null
           and o.retry_at <= clock_timestamp()`,
        [...held(), outcome, supersedes],
      )
    },
    async reopen(afterMs, spent) {
      await stopRenewing()
      await pool.query(
        `update ferry.schedule_slots set retry_at = ${inMs('$5')}, attempts = attempts - $6::int ${where}`,
        [...held(), afterMs, spent ? 0 : 1],
      )
    },
  }
}

/** Records that a person wants `key` to run now; returns the slot this makes: its time is now, and nobody has it yet. */
export async function addManualSlot(pool: Pool, key: ScheduleKey): Promise<Date> {
  const { rows } = await pool.query<{ slot: Date }>(
    `insert into ferry.schedule_slots (account, schedule, slot, retry_at, manual)
     values ($1, $2, ${inMs('0')}, clock_timestamp(), true)
     on conflict (account, schedule, slot) do update set slot = excluded.slot returning slot`,
    [key.account, key.schedule],
  )
  const [row] = rows
  if (!row) throw new Error('the slot was not recorded')
  return row.slot
}

/**
 * Records the first slot of a schedule: its time is now. Null if the schedule has one, or had one. Of many workers that
 * try at once, one does: the row of the installation is their lock.
 */
export function addFirstSlot(pool: Pool, key: ScheduleKey): Promise<Date | null> {
  return inTransaction(pool, async client => {
    await client.query('select from ferry.installation for update')
    const { rows } = await client.query<{ slot: Date }>(
      `insert into ferry.schedule_slots (account, schedule, slot, retry_at)
       select $1, $2, ${inMs('0')}, clock_timestamp()
       where not exists (select from ferry.schedule_slots where account = $1 and schedule = $2)
       returning slot`,
      [key.account, key.schedule],
    )
    return rows[0]?.slot ?? null
  })
}

/** Whole milliseconds, as a JavaScript Date has: `retry_at` makes the way there and back. */
function inMs(parameter: string): string {
  return `date_trunc('milliseconds', clock_timestamp()) + ${parameter}::int * interval '1 ms'`
}
