import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { and, drizzleOf, eq, inArray, isNull, lt, sql } from '#src/db/drizzle.ts'
import { endLease } from '#src/db/lease-rows.ts'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { retryTransient } from '#src/db/retry.ts'
import { findColumn, findOne } from '#src/db/rows.ts'
import { APPLIED_STATUSES, type JobStatus } from '#src/model/run.ts'
import type { Schedule, ScheduleKey } from './definition.ts'
import { inMs, loadFreeInMs, mayBeTriedInSql, retryInMsInSql, slotLeaseName } from './free-slot.ts'
import { scheduleSlots } from './schema.ts'

/*
 * A worker does a slot under a lease.
 *
 *               take               done
 *     (no row) ──────► at work ──────────► done
 *                        │  ▲
 *    retry, wait, give   ▼  │ take
 *    back, or died      waiting
 *
 * The lease says who does it; `retry_at` says from when on an unfinished slot may be tried again. `free-slot.ts` says when it
 * may be taken, `decideSlotEnd` how it goes on.
 */

/**
 * A worker that dies leaves its slot free after 15.5 to 18 s. The lease of a sync (15 s, renewed every 5 s) has expired
 * by then, so the run that follows is not skipped because of it, and begins within 8 s of the end of that lease.
 */
const LEASE_MS = 18_000
const RENEW_EVERY_MS = 2_500

export type SlotLease = {
  readonly slot: Date
  /** The number of this attempt at the slot, from 1. */
  readonly attempts: number
  /** Aborts once it is known that another worker has the lease. */
  readonly signal: AbortSignal
  /** Closes the slot, or lets any worker try it again. */
  end(end: SlotEnd): Promise<void>
}

type SlotContext = { readonly pool: Pool; readonly holder: string; readonly log: Logger }

/**
 * Takes a slot, and keeps it until the work on it ends. Null if it is done, another worker has it, it waits to be
 * tried again, or its schedule is paused (unless `evenIfPaused`). Ending a lease that was lost changes nothing.
 */
export async function takeSlot(
  { pool, holder, log }: SlotContext,
  key: ScheduleKey,
  slot: Date,
  { evenIfPaused }: { readonly evenIfPaused: boolean },
): Promise<SlotLease | null> {
  const name = slotLeaseName(key, slot)
  const lease = await acquireLease(pool, name, holder, log, {
    lifeMs: LEASE_MS,
    renewEveryMs: RENEW_EVERY_MS,
  })
  if ('heldBy' in lease) return null
  let attempts: number | null = null
  try {
    attempts = await beginAttempt(pool, key, slot, evenIfPaused, lease.signal)
  } finally {
    if (attempts === null) await lease.release()
  }
  return attempts === null ? null : ownSlot(pool, key, slot, attempts, lease)
}

/**
 * Counts an attempt and returns how many there were; null if there may be none now. `retry_at` keeps others from closing the
 * slot as superseded while its lease is young.
 *
 * An attempt whose answer was lost is not counted anew. Its number and its `retry_at` are chosen before: a row that has both
 * is this attempt, so the statement may be repeated.
 */
async function beginAttempt(
  pool: Pool,
  { schedule, account }: ScheduleKey,
  slot: Date,
  evenIfPaused: boolean,
  signal: AbortSignal,
): Promise<number | null> {
  const { attempt, retryAt } = await findOne(
    pool,
    NextAttempt,
    `select coalesce(max(attempts), 0) + 1 as attempt, (clock_timestamp() + $4 * interval '1 ms')::text as retry_at
     from ferry.schedule_slots where account = $1 and schedule = $2 and slot = $3::timestamptz`,
    [account, schedule, slot, LEASE_MS],
  )
  const begin = () =>
    findColumn(
      pool,
      z.number(),
      `insert into ferry.schedule_slots as s (account, schedule, slot, attempts, retry_at)
       select $1, $2, $3::timestamptz, $4::int, $5::timestamptz
       where $6::boolean or not exists (select from ferry.schedule_pauses p where p.schedule = $2 and p.account = $1)
       on conflict (account, schedule, slot) do update set attempts = excluded.attempts, retry_at = excluded.retry_at
         where ${mayBeTriedInSql('s')} or (s.attempts = excluded.attempts and s.retry_at = excluded.retry_at)
       returning attempts`,
      [account, schedule, slot, attempt, retryAt, evenIfPaused],
    )
  const [attempts] = await retryTransient(begin, { retryForMs: RENEW_EVERY_MS, signal })
  return attempts ?? null
}

const NextAttempt = z.object({ attempt: z.number(), retryAt: z.string() })

function ownSlot(pool: Pool, key: ScheduleKey, slot: Date, attempts: number, lease: Lease): SlotLease {
  const isMine = and(isOf(key), eq(scheduleSlots.slot, slot), isNull(scheduleSlots.done_at))
  return {
    slot,
    attempts,
    signal: lease.signal,
    async end(end) {
      try {
        await inTransaction(pool, async client => {
          if (!(await endLease(client, lease))) return
          await drizzleOf(client).update(scheduleSlots).set(columnsOf(end, attempts)).where(isMine)
          if (end.to === 'done' && end.supersedes) await closeOlder(client, key, slot)
        })
        lease.wasEnded()
      } finally {
        await lease.release()
      }
    },
  }
}

/** Only an attempt that was made counts. */
function columnsOf(end: SlotEnd, attempts: number) {
  switch (end.to) {
    case 'done':
      return doneAs(end.outcome)
    case 'retry after a failure':
      return { retry_at: inMs(end.afterMs) }
    case 'wait after a skip':
      return { retry_at: inMs(end.afterMs), attempts: attempts - 1 }
    case 'give back':
      return { retry_at: inMs(0), attempts: attempts - 1 }
  }
}

/** Closes the slots before this one that are free. */
async function closeOlder(client: PoolClient, key: ScheduleKey, slot: Date): Promise<void> {
  const isOlder = and(isOf(key), lt(scheduleSlots.slot, slot), isNull(scheduleSlots.done_at))
  const older = await drizzleOf(client)
    .select({
      slot: scheduleSlots.slot,
      retryInMs: sql`${sql.raw(retryInMsInSql(SLOTS))}`.mapWith(z.number().parse),
    })
    .from(scheduleSlots)
    .where(isOlder)
  const slots = older.map(one => ({ ...key, ...one }))
  const freeInMs = await loadFreeInMs(client, slots)
  const free = slots.filter(one => freeInMs(one) <= 0).map(one => one.slot)
  if (free.length === 0) return
  // Another worker may have taken one meanwhile: its `retry_at` says so.
  await drizzleOf(client)
    .update(scheduleSlots)
    .set(doneAs('superseded'))
    .where(and(isOlder, inArray(scheduleSlots.slot, free), sql.raw(mayBeTriedInSql(SLOTS))))
}

/** The name of the table in queries of Drizzle. */
const SLOTS = 'schedule_slots'

function doneAs(outcome: string) {
  return { done_at: sql`clock_timestamp()`, retry_at: null, outcome }
}

function isOf({ schedule, account }: ScheduleKey) {
  return and(eq(scheduleSlots.account, account), eq(scheduleSlots.schedule, schedule))
}

/** Decides about a slot once the work on it has ended. An attempt that was skipped or given back does not count. */
export type SlotEnd =
  /** If it `supersedes`, older slots that are free are closed too: their work is done by this one. */
  | { readonly to: 'done'; readonly outcome: JobStatus; readonly supersedes: boolean }
  | { readonly to: 'retry after a failure'; readonly afterMs: number }
  | { readonly to: 'wait after a skip'; readonly afterMs: number }
  /** Free at once. */
  | { readonly to: 'give back' }

/** Outcomes that stand even if the job was cut off meanwhile: its work is in Postgres. */
const STORED: ReadonlySet<JobStatus> = new Set(APPLIED_STATUSES)

/** With scraping and the evaluation of an alert, this is less than a minute. */
const REFUSED_AGAIN_AFTER_MS = 20_000

/**
 * `attempts` is how often the slot was begun, this time included. `isRefused`: the platform refused the key. The slot of an
 * interval is tried again until the next one is due then, so that Ferry soon sees that somebody has mended it.
 */
export function decideSlotEnd(
  schedule: Pick<Schedule, 'timing' | 'retryAfterMs' | 'skippedAgainAfterMs'>,
  attempts: number,
  { status: outcome, isRefused }: { readonly status: JobStatus; readonly isRefused: boolean },
  isCutOff: boolean,
): SlotEnd {
  const { timing, retryAfterMs, skippedAgainAfterMs } = schedule
  if (STORED.has(outcome)) return { to: 'done', outcome, supersedes: true }
  if (isCutOff || outcome === 'stopped' || outcome === 'yielded') return { to: 'give back' }
  if (outcome === 'failed') {
    const isSoon = isRefused && 'everyMs' in timing && attempts * REFUSED_AGAIN_AFTER_MS < timing.everyMs
    const afterMs = isSoon ? REFUSED_AGAIN_AFTER_MS : retryAfterMs[attempts - 1]
    if (afterMs !== undefined) return { to: 'retry after a failure', afterMs }
  } else if (skippedAgainAfterMs !== null) {
    return { to: 'wait after a skip', afterMs: skippedAgainAfterMs }
  }
  return { to: 'done', outcome, supersedes: false }
}
