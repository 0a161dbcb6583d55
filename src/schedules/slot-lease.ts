import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { and, drizzleOf, eq, inArray, isNull, lt, sql } from '#src/db/drizzle.ts'
import { endLease } from '#src/db/lease-rows.ts'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { inMs } from './add-slot.ts'
import type { ScheduleKey } from './definition.ts'
import { loadFreeInMs, mayBeTriedInSql, retryInMsInSql, slotLeaseName } from './free-slot.ts'
import { scheduleSlots } from './schema.ts'

/*
 * A worker does a slot under a lease.
 *
 *               take              settle
 *     (no row) ──────► at work ──────────► done
 *                        │  ▲
 *      reopen, or died   ▼  │ take
 *                       waiting
 *
 * The lease says who does it; `retry_at` says from when on an unfinished slot may be tried again. `free-slot.ts` says when it
 * may be taken. To settle a slot is to record its outcome for good.
 */

/**
 * A worker that dies leaves its slot free after 15.5 to 18 s. The lease of a sync (15 s, renewed every 5 s) has expired
 * by then, so the run that follows is not skipped because of it, and begins within 8 s of the end of that lease.
 */
const LEASE_MS = 18_000
const RENEW_EVERY_MS = 2_500

export type SlotLease = {
  readonly slot: Date
  /** How often this slot was begun, this time included. */
  readonly attempts: number
  /** Aborts once it is known that another worker has the lease. */
  readonly signal: AbortSignal
  /** Closes the slot. If `supersedes`, older slots that wait are closed too: their work is done by this one. */
  settle(outcome: string, supersedes: boolean): Promise<void>
  /** Lets any worker try the slot again after `afterMs`; `spent` is whether this counts as an attempt. */
  reopen(afterMs: number, spent: boolean): Promise<void>
}

type SlotContext = { readonly pool: Pool; readonly holder: string; readonly log: Logger }

/**
 * Takes a slot, and keeps it until it is settled or reopened. Null if it is done, another worker has it, it waits to be
 * tried again, or its schedule is paused (unless `evenIfPaused`). Whoever lost it changes nothing by settling it.
 */
export async function takeSlot(
  { pool, holder, log }: SlotContext,
  key: ScheduleKey,
  slot: Date,
  { evenIfPaused }: { readonly evenIfPaused: boolean },
): Promise<SlotLease | null> {
  const name = slotLeaseName(key, slot)
  const lease = await acquireLease(pool, name, holder, log, LEASE_MS, RENEW_EVERY_MS)
  if ('heldBy' in lease) return null
  let attempts: number | null = null
  try {
    attempts = await beginAttempt(pool, key, slot, evenIfPaused)
  } finally {
    if (attempts === null) await lease.release()
  }
  return attempts === null ? null : ownSlot(pool, key, slot, attempts, lease)
}

/**
 * Counts an attempt and returns how many there were; null if there may be none now.
 *
 * Workers of earlier versions know no lease of a slot, and take one whose `retry_at` has come: they leave this one alone
 * for as long as the lease of a worker that dies at once.
 */
async function beginAttempt(
  pool: Pool,
  { schedule, account }: ScheduleKey,
  slot: Date,
  evenIfPaused: boolean,
): Promise<number | null> {
  const { rows } = await pool.query<{ attempts: number }>(
    `insert into ferry.schedule_slots as s (account, schedule, slot, attempts, retry_at)
     select $1, $2, $3::timestamptz, 1, clock_timestamp() + $4 * interval '1 ms'
     where $5::boolean or not exists (select from ferry.schedule_pauses p where p.schedule = $2 and p.account = $1)
     on conflict (account, schedule, slot) do update set attempts = s.attempts + 1, retry_at = excluded.retry_at
       where ${mayBeTriedInSql('s')}
     returning attempts`,
    [account, schedule, slot, LEASE_MS, evenIfPaused],
  )
  return rows[0]?.attempts ?? null
}

function ownSlot(pool: Pool, key: ScheduleKey, slot: Date, attempts: number, lease: Lease): SlotLease {
  const isMine = and(isOf(key), eq(scheduleSlots.slot, slot), isNull(scheduleSlots.done_at))

  /** Ends the lease with what `record` records, or, if it was lost, without. */
  async function end(record: (client: PoolClient) => Promise<unknown>): Promise<void> {
    try {
      await inTransaction(pool, async client => {
        if (await endLease(client, lease)) await record(client)
      })
      lease.wasEnded()
    } finally {
      await lease.release()
    }
  }

  return {
    slot,
    attempts,
    signal: lease.signal,
    settle: (outcome, supersedes) =>
      end(async client => {
        await drizzleOf(client).update(scheduleSlots).set(doneAs(outcome)).where(isMine)
        if (supersedes) await closeOlder(client, key, slot)
      }),
    reopen: (afterMs, spent) =>
      end(client =>
        drizzleOf(client)
          .update(scheduleSlots)
          .set({ retry_at: inMs(afterMs), attempts: spent ? attempts : attempts - 1 })
          .where(isMine),
      ),
  }
}

/** Closes the slots before this one that are free. */
async function closeOlder(client: PoolClient, key: ScheduleKey, slot: Date): Promise<void> {
  const isOlder = and(isOf(key), lt(scheduleSlots.slot, slot), isNull(scheduleSlots.done_at))
  const older = await drizzleOf(client)
    .select({ slot: scheduleSlots.slot, retryInMs: sql<number>`${sql.raw(retryInMsInSql(SLOTS))}` })
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

/** What Drizzle calls the table in a query. */
const SLOTS = 'schedule_slots'

function doneAs(outcome: string) {
  return { done_at: sql`clock_timestamp()`, retry_at: null, outcome }
}

function isOf({ schedule, account }: ScheduleKey) {
  return and(eq(scheduleSlots.account, account), eq(scheduleSlots.schedule, schedule))
}
