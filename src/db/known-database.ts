import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { CallEnd } from '#src/model/call.ts'
import { DATABASE_CAUSES, type DatabaseCause, type DatabaseChange } from '#src/model/database-change.ts'
import { guardedMs, type Limit } from '#src/model/limit.ts'
import { type Moment, msSince } from '#src/model/moment.ts'
import { inTransaction } from './pool.ts'
import { findAll, findMaybe, findOne, findValue, Int8, type Queryable } from './rows.ts'

/*
 * Is this the database that Ferry knew? After a restore, or a failover to a standby that lagged, the last rows may be missing:
 * calls that were made are in no call log, and rows that were sent are still to be sent.
 *
 *     each permit ──► is_known_database.sql ──► yes: the call
 *                                           └─► no: noticeDatabase: record the change, hold the imports, close the limits
 *                                               of all workers for as long as the platform may count calls that are not in the log
 *
 * The database itself keeps what it was (`known_database`), so a copy of it carries that along, and is noticed too. What no
 * row can tell is told by the memory of a process: the last call that it recorded.
 */

const ChangeRow = z.object({
  id: Int8,
  noticedAt: z.date(),
  missingSince: z.date().nullable(),
  cause: z.enum(DATABASE_CAUSES),
  heldImports: z.number(),
})

/** A call that is older may have been pruned, and tells nothing any more. */
const OWN_CALL_FOR_MS = 3_600_000

/** Until the server reads how old a call is, it may have waited for a connection: better too old than too young. */
const UNDER_WAY_MS = 60_000

/** The parameters of `is_known_database`. */
type OwnCallValues = readonly [callId: bigint | null, requestId: string | null, ageMs: number | null]
const NO_CALL: OwnCallValues = [null, null, null]

/** The last call of this process that has ended and is recorded. */
export class OwnCall {
  #call: { readonly callId: bigint; readonly requestId: string; readonly askedAt: Moment } | null = null

  /** Without a request_id the call would not be known again. */
  remember(
    { callId, askedAt }: { readonly callId: bigint; readonly askedAt: Moment },
    { requestId }: Pick<CallEnd, 'requestId'>,
  ): void {
    if (requestId !== null) this.#call = { callId, requestId, askedAt }
  }

  /** Of the call, if there is one that is young enough. */
  values(): OwnCallValues {
    if (!this.#call) return NO_CALL
    const { callId, requestId, askedAt } = this.#call
    const ageMs = msSince(askedAt) + UNDER_WAY_MS
    return ageMs < OWN_CALL_FOR_MS ? [callId, requestId, ageMs] : NO_CALL
  }
}

/** What noticing a change needs: the last call, the limits of this process, and how imports are held. */
export type NoticeContext = {
  readonly ownCall: OwnCall
  readonly limits: readonly (Limit & { readonly operation: string })[]
  readonly arrivalBoundMs: number
  /** Holds the imports that are sent, in the transaction that records the change. Returns how many. */
  holdImports(client: PoolClient, change: DatabaseChange): Promise<number>
}

/** While nothing has changed, this is how often a worker writes that it saw the database. */
const SEEN_EVERY_MS = 30_000

/**
 * Records that this is another database than the known one, and returns the change; null if it is the known one, or is known
 * from now on. Of several workers that notice it, one records it.
 */
export async function noticeDatabase(pool: Pool, context: NoticeContext): Promise<DatabaseChange | null> {
  const own = context.ownCall.values()
  const { cause: seen, isDue } = await look(pool, own)
  if (seen === null && !isDue) return null
  return inTransaction(pool, async client => {
    await beginToKnow(client)
    await client.query('select from ferry.known_database for update')
    const { cause } = await look(client, own)
    if (cause === null) {
      await client.query(KNOW)
      return null
    }
    const change = await findOne(client, ChangeRow, RECORD, [cause, own[2]])
    const held = await context.holdImports(client, change)
    await client.query('update ferry.database_changes set held_imports = $2 where id = $1', [change.id, held])
    await closeLimits(client, context)
    await client.query(KNOW)
    return change
  })
}

/** Writes what this database is, if that is not known yet. */
export async function beginToKnow(client: Queryable): Promise<void> {
  await client.query(
    `insert into ferry.known_database (system_identifier, timeline, database_oid, written_by)
     select system_identifier, timeline, database_oid, pg_current_xact_id()::xid::text from ferry_internal.database_now()
     on conflict do nothing`,
  )
}

const KNOW = `
  update ferry.known_database set (system_identifier, timeline, database_oid) = (select * from ferry_internal.database_now()),
    written_by = pg_current_xact_id()::xid::text, seen_at = clock_timestamp()`

/**
 * Makes a copy the known database, because Ferry itself has moved all rows there while nothing else ran. If `source` was not the
 * known one, neither is the copy.
 */
export async function knowCopy(source: Queryable, copy: Queryable): Promise<void> {
  const isTold = "select to_regclass('ferry.known_database') is not null as is_told"
  if (!(await findValue(source, z.boolean(), isTold)) || (await findCause(source)) !== null) return
  await copy.query(KNOW)
}

/** Returns how this database differs from the known one; null if it does not, as far as its rows tell. Only reads. */
export async function findCause(client: Queryable): Promise<DatabaseCause | null> {
  return (await look(client, NO_CALL)).cause
}

const Look = z.object({ cause: z.enum(DATABASE_CAUSES).nullable(), isDue: z.boolean() })

/** Whether it differs, and whether it is time to write that it was seen. */
async function look(client: Queryable, own: OwnCallValues): Promise<z.infer<typeof Look>> {
  const found = await findMaybe(
    client,
    Look,
    `select case
       when k.system_identifier <> n.system_identifier then 'server'
       when k.timeline <> n.timeline then 'timeline'
       when k.database_oid <> n.database_oid then 'database'
       when k.written_by <> k.xmin::text then 'copy'
       when not i.has_call then 'calls' end as cause,
       k.seen_at < clock_timestamp() - $4 * interval '1 ms' as is_due
     from ferry.known_database k, ferry_internal.database_now() n, ferry_internal.is_known_database($1, $2, $3) i`,
    [...own, SEEN_EVERY_MS],
  )
  return found ?? { cause: null, isDue: true }
}

/**
 * Since when rows may be missing: since the newest thing that is known of the time before. A worker saw the known database, a
 * call was made, or the server replayed a transaction when it was still a standby. If only a call of this process is missing, the
 * database may have been used since it was restored: then since the last call before that one.
 */
const RECORD = `
  insert into ferry.database_changes (cause, missing_since, known, found)
  select $1, case when $1 = 'calls' then (
      select c.started from ferry.platform_calls c where c.started < clock_timestamp() - $2 * interval '1 ms'
      order by c.id desc limit 1)
    else greatest(k.seen_at, (select c.started from ferry.platform_calls c order by c.id desc limit 1),
      case when $1 = 'timeline' then pg_last_xact_replay_timestamp() end) end,
    jsonb_build_object('system', k.system_identifier, 'timeline', k.timeline, 'database', k.database_oid),
    jsonb_build_object('system', n.system_identifier, 'timeline', n.timeline, 'database', n.database_oid)
  from ferry.known_database k, ferry_internal.database_now() n
  returning id, noticed_at, missing_since, cause, held_imports`

/**
 * The platform counts calls that are not in the log: no call is made until each of them has left its window. The windows of limits
 * that only other workers have are not known here, and taken to be as long as the longest that is.
 */
async function closeLimits(client: PoolClient, { limits, arrivalBoundMs }: NoticeContext): Promise<void> {
  const closedMs = limits.map(({ windows }) =>
    guardedMs(arrivalBoundMs + Math.max(...windows.map(({ windowMs }) => windowMs))),
  )
  // In one order: a worker that starts writes the same rows.
  await client.query(
    `insert into ferry.platform_limits as l (limit_key, operation, blocked_until)
     select key, operation, clock_timestamp() + coalesce(max(own.ms), $4) * interval '1 ms'
     from unnest($1::text[], $2::text[], $3::float8[]) as own (key, operation, ms)
     full join (select limit_key as key, operation from ferry.platform_limits) known using (key, operation)
     group by key, operation order by key, operation
     on conflict (limit_key, operation) do update set blocked_by = null,
       blocked_until = greatest(l.blocked_until, excluded.blocked_until)`,
    [
      limits.map(({ limitKey }) => limitKey),
      limits.map(({ operation }) => operation),
      closedMs,
      Math.max(0, ...closedMs),
    ],
  )
}

/** Lists the changes, the newest first. */
export function listDatabaseChanges(client: Queryable, limit: number): Promise<z.infer<typeof ChangeRow>[]> {
  return findAll(
    client,
    ChangeRow,
    'select id, noticed_at, missing_since, cause, held_imports from ferry.database_changes order by id desc limit $1',
    [limit],
  )
}
