import type { Pool } from 'pg'
import type { Logger } from 'pino'

/*
 * Slots and pauses. A slot is one time a schedule was due; whoever inserts or takes its row works on it.
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

export type ScheduleKey = { readonly schedule: string; readonly account: string }

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
     select $1, $2, $3, 1, ${inMs('$4')}
     where $5 or not exists (select from ferry.schedule_pauses p where p.schedule = $2 and p.account = $1)
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
  let expiry = setTimeout(giveUp, HOLD_MS)
  let renewing = Promise.resolve()
  const timer = setInterval(() => {
    renewing = renewing.then(renew)
  }, RENEW_EVERY_MS)

  async function renew(): Promise<void> {
    const askedAt = performance.now()
    try {
      const { rows } = await pool.query<{ retry_at: Date }>(
        `update ferry.schedule_slots set retry_at = ${inMs('$5')} ${where} returning retry_at`,
        [...held(), HOLD_MS],
      )
      clearTimeout(expiry)
      if (!rows[0]) return giveUp()
      until = rows[0].retry_at
      expiry = setTimeout(giveUp, HOLD_MS - (performance.now() - askedAt))
    } catch (error) {
      log.warn({ err: error, ...key }, 'the hold on a slot could not be renewed')
    }
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
         where $6 and o.account = $1 and o.schedule = $2 and o.slot < s.slot and o.done_at is null
           and o.retry_at <= clock_timestamp()`,
        [...held(), outcome, supersedes],
      )
    },
    async reopen(afterMs, spent) {
      await stopRenewing()
      await pool.query(
        `update ferry.schedule_slots set retry_at = ${inMs('$5')}, attempts = attempts - $6 ${where}`,
        [...held(), afterMs, spent ? 0 : 1],
      )
    },
  }
}

/** Whole milliseconds, as a JavaScript Date has: `retry_at` makes the way there and back. */
function inMs(parameter: string): string {
  return `date_trunc('milliseconds', clock_timestamp()) + ${parameter}::int * interval '1 ms'`
}

/** Records that a person wants `key` to run now; returns the slot this makes. Nobody has it yet. */
export async function addManualSlot(pool: Pool, key: ScheduleKey): Promise<Date> {
  const { rows } = await pool.query<{ slot: Date }>(
    `insert into ferry.schedule_slots (account, schedule, slot, retry_at)
     values ($1, $2, ${inMs('0')}, clock_timestamp()) returning slot`,
    [key.account, key.schedule],
  )
  const [row] = rows
  if (!row) throw new Error('the slot was not recorded')
  return row.slot
}

/** How a schedule stands, as the reconciler needs to know it. */
export type ScheduleState = {
  readonly paused: boolean
  /** Whether the slot asked about has a row: somebody took it, whatever came of it. */
  readonly taken: boolean
  /** The latest unfinished slot. */
  readonly open: { readonly slot: Date; readonly attempts: number; readonly freeInMs: number } | null
}

/** Answers in the order asked, in one query. */
export async function loadScheduleStates(
  pool: Pool,
  asked: readonly (ScheduleKey & { readonly slot: Date })[],
): Promise<ScheduleState[]> {
  const { rows } = await pool.query<{
    paused: boolean
    taken: boolean
    slot: Date | null
    attempts: number | null
    free_in_ms: number | null
  }>(
    `select
       exists (select from ferry.schedule_pauses p where p.schedule = a.schedule and p.account = a.account) as paused,
       exists (select from ferry.schedule_slots t
               where t.account = a.account and t.schedule = a.schedule and t.slot = a.slot) as taken,
       o.slot, o.attempts, extract(epoch from o.retry_at - clock_timestamp())::float8 * 1000 as free_in_ms
     from unnest($1::text[], $2::text[], $3::timestamptz[]) with ordinality as a (schedule, account, slot, position)
     left join lateral (
       select * from ferry.schedule_slots u
       where u.account = a.account and u.schedule = a.schedule and u.done_at is null
       order by u.slot desc limit 1) o on true
     order by a.position`,
    [asked.map(a => a.schedule), asked.map(a => a.account), asked.map(a => a.slot)],
  )
  return rows.map(({ paused, taken, slot, attempts, free_in_ms }) => ({
    paused,
    taken,
    open: slot && { slot, attempts: attempts ?? 0, freeInMs: free_in_ms ?? 0 },
  }))
}

export type LastSlot = ScheduleKey & { readonly slot: Date; readonly outcome: string | null }

/** The latest slot of each schedule, done or not. */
export async function loadLastSlots(pool: Pool): Promise<LastSlot[]> {
  const { rows } = await pool.query<LastSlot>(
    `select distinct on (account, schedule) account, schedule, slot, outcome from ferry.schedule_slots
     order by account, schedule, slot desc`,
  )
  return rows
}

/** Pausing twice is pausing once. Work under way is not interrupted. */
export async function pauseSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  await pool.query(
    `insert into ferry.schedule_pauses (schedule, account) select * from unnest($1::text[], $2::text[])
     on conflict do nothing`,
    [keys.map(key => key.schedule), keys.map(key => key.account)],
  )
}

export async function resumeSchedules(pool: Pool, keys: readonly ScheduleKey[]): Promise<void> {
  await pool.query(
    `delete from ferry.schedule_pauses where (schedule, account) in (select * from unnest($1::text[], $2::text[]))`,
    [keys.map(key => key.schedule), keys.map(key => key.account)],
  )
}

export async function loadPauses(pool: Pool): Promise<ScheduleKey[]> {
  const { rows } = await pool.query<ScheduleKey>('select schedule, account from ferry.schedule_pauses')
  return rows
}
