import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { DAY_MS } from '#src/model/duration.ts'
import { isAliveIn } from './outbox.ts'
import { inTransaction } from './pool.ts'
import { findOne, findValue } from './rows.ts'

/*
 * Each room declares which of its rows are old (`Aging`); here they are counted and removed, in small transactions with pauses
 * between them, so that other work goes on.
 */

/** The rows of one table that are old enough to be removed. */
export type OldRows = {
  readonly table: string
  /** For how long its rows are kept, in milliseconds; null: for ever. */
  readonly keepMs: number | null
  /** Returns how many there are now. Removes none. */
  count(): Promise<number>
  /** Removes them in small transactions. Returns how many; fewer than there are if `signal` aborts. */
  remove(signal: AbortSignal): Promise<number>
}

/** Which rows of a table are old. Conditions in SQL are about a row `r`; `$1` is the instant `keepMs` ago. */
export type Aging = {
  readonly table: string
  readonly keepMs: number | null
  readonly isOld: string
  /** The order in which rows are removed, in SQL: that of an index. */
  readonly order?: string
  /**
   * For a table where many rows stay although they have aged. Its rows are read page by page in the order of their ids,
   * which is about that of their ages, up to the first page on which none has aged.
   */
  readonly hasAged?: string
  /** Rows removed, or read, in one transaction. */
  readonly batchRows?: number
  /** Other work in the transaction that removed rows; `ids` only of a table with `hasAged`. */
  readonly alongside?: (client: PoolClient, ago: string, ids: readonly string[]) => Promise<unknown>
}

const BATCH_ROWS = 5_000

/** One small transaction. */
export type Batch = { readonly removed: number; readonly isLast: boolean }

/** Other work gets at least as much time as a batch took, up to this. */
const MAX_PAUSE_MS = 200

export function oldRows(pool: Pool, aging: Aging): OldRows {
  const { table, keepMs, isOld } = aging
  return {
    table,
    keepMs,
    async count() {
      const ago = await loadAgo(pool, keepMs)
      if (ago === null) return 0
      return findValue(pool, z.number(), `select count(*)::int from ${table} r where ${isOld}`, [ago])
    },
    async remove(signal) {
      const ago = await loadAgo(pool, keepMs)
      return ago === null ? 0 : removeInBatches(batchesOf(pool, aging, ago), signal)
    },
  }
}

function batchesOf(pool: Pool, aging: Aging, ago: string): () => Promise<Batch> {
  const { hasAged, batchRows = BATCH_ROWS, alongside } = aging
  const remove = hasAged === undefined ? removalOf(aging) : pageRemovalOf(aging, hasAged)
  let after = '0'
  return () =>
    inTransaction(pool, async client => {
      const { removed, ids, isLast, last } = await findOne(client, Removed, remove, [ago, batchRows, after])
      if (removed > 0) await alongside?.(client, ago, ids)
      after = last
      return { removed, isLast }
    })
}

/** `ids` are those of the rows removed, `last` is where the next page begins: both only of a table read by pages. */
const Removed = z.object({
  removed: z.number(),
  ids: z.array(z.string()),
  isLast: z.boolean(),
  last: z.string(),
})

function removalOf({ table, isOld, order }: Aging): string {
  return `
    with gone as (
      delete from ${table} where ctid = any (array(
        select r.ctid from ${table} r where ${isOld} ${order ? `order by ${order}` : ''} limit $2::int)) returning 1
    )
    select count(*)::int as removed, '{}'::text[] as ids, count(*) < $2::int as is_last, $3::text as last from gone`
}

function pageRemovalOf({ table, isOld }: Aging, hasAged: string): string {
  return `
    with page as materialized (
      select * from ${table} where id > $3::bigint order by id limit $2::int
    ), old as materialized (
      select r.id from page r where ${isOld}
    ), gone as (
      delete from ${table} where id = any (array(select id from old)) returning id
    )
    select (select count(*)::int from gone) as removed, array(select id::text from gone) as ids,
      count(*) filter (where ${hasAged}) = 0 as is_last, coalesce(max(id), $3::bigint)::text as last
    from page r`
}

/** Removes batch after batch, with a pause after each. Returns how many rows were removed. */
export async function removeInBatches(batch: () => Promise<Batch>, signal: AbortSignal): Promise<number> {
  let sum = 0
  while (!signal.aborted) {
    const startedAtMs = performance.now()
    const { removed, isLast } = await batch()
    sum += removed
    if (isLast) break
    await delay(Math.min(performance.now() - startedAtMs, MAX_PAUSE_MS), undefined, { signal }).catch(
      () => {},
    )
  }
  return sum
}

/** Returns the instant `keepMs` ago by the database's clock, as Postgres writes it; null if rows are kept for ever. */
export async function loadAgo(pool: Pool, keepMs: number | null): Promise<string | null> {
  if (keepMs === null) return null
  const ago = `select (clock_timestamp() - $1 * interval '1 ms')::text`
  return findValue(pool, z.string(), ago, [keepMs])
}

/*
 * Which rows of the tables of `src/db` are old.
 */

/** Calls of the call log, but not those that `isKept`, in SQL about a row `r`, says belong to another record. */
export function oldCalls(pool: Pool, keepMs: number | null, isKept: string): OldRows {
  const hasAged = 'r.counted_by < $1::timestamptz'
  const isOld = `${hasAged} and not (${isKept})`
  return oldRows(pool, { table: 'ferry.platform_calls', keepMs, hasAged, isOld })
}

/**
 * Events. One that is open stays, however old: it would be raised again. So does one of which a message may still be sent, and one
 * whose cause is not over for all: by its messages, receivers were told that it began.
 */
export function oldEvents(pool: Pool, keepMs: number | null): OldRows {
  return oldRows(pool, {
    table: 'ferry.events',
    keepMs,
    isOld: `r.at < $1::timestamptz and not r.is_open and not exists (
      select from ferry.deliveries d where d.event = r.id and d.delivered_at is null and ${isAliveIn('d.')}) and not exists (
      select from ferry.events o where (o.is_open or o.routed_at is null and o.at >= $1::timestamptz) and o.account = r.account
        and o.data ->> 'cause' = r.data ->> 'cause')`,
    order: 'r.id',
  })
}

/** Leases that expired long ago: of work that no worker took up again. */
export function oldLeases(pool: Pool): OldRows {
  return oldRows(pool, {
    table: 'ferry.leases',
    keepMs: DAY_MS,
    isOld: 'r.expires_at < $1::timestamptz',
  })
}

/** Workers that have been silent for long. */
export function oldWorkers(pool: Pool): OldRows {
  return oldRows(pool, {
    table: 'ferry.workers',
    keepMs: DAY_MS,
    isOld: 'r.seen_at < $1::timestamptz',
  })
}
