import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findOne } from '#src/db/rows.ts'
import { EVENT_KINDS, EVENT_STATES, type EventKind } from '#src/model/event.ts'
import type { CallResult } from './caller.ts'

/** A message that was not accepted for this long is not sent any more: nobody needs yesterday's news. */
const DEAD_AFTER_HOURS = 24

/** SQL that says whether an event is young enough to be sent; `event` is the name of its row, and a dot. */
export const isAliveIn = (event: string) =>
  `${event}at > statement_timestamp() - ${DEAD_AFTER_HOURS} * interval '1 hour'`

/** One look sends at most this many messages. */
const MAX_MESSAGES = 100

/** What an event tells beside its key, as it is stored. */
export const StoredData = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.string()), z.null()]),
)

const PendingRow = z.object({
  id: z.string(),
  messageId: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  data: StoredData,
  at: z.date(),
  attempts: z.number(),
  /** The receiver refused it for what is in it, the last time it was sent. */
  isRefused: z.boolean(),
  /** The database's time. */
  now: z.date(),
})

/** A message that is to be sent now. */
export type Pending = z.infer<typeof PendingRow>

/** Which messages are sent, and when one that was not accepted is sent again. */
export type Policy = {
  readonly kinds: readonly EventKind[]
  /** With these a receiver refuses one message for what is in it. Any other failure says that the receiver is not well. */
  readonly aboutTheMessage: readonly number[]
  /** No message waits longer. One that does is from before the database's clock was set back: it is sent. */
  readonly maxWaitMs: number
}

/*
 * The conditions are of stable functions, so that the indexes of `ferry.events` lead to the messages: the table may hold a
 * million events, and all but a few are delivered or dead.
 */
const isToldIn = (event: string) =>
  `${event}.delivered_at is null and ${event}.kind = any ($1)
   and ${isAliveIn(`${event}.`)}`
const isRefusedIn = (event: string) => `coalesce(${event}.http_status = any ($3), false)`
const waitsIn = (event: string) =>
  `${event}.retry_at > statement_timestamp() and ${event}.retry_at <= statement_timestamp() + $2 * interval '1 ms'`

/**
 * In how many milliseconds to try again: the receiver if it is not well (else null), and the first message that it refused
 * (Infinity without one).
 */
export async function loadWaits(
  pool: Pool,
  { kinds, maxWaitMs, aboutTheMessage }: Policy,
): Promise<{ readonly receiverMs: number | null; readonly messageMs: number }> {
  const { receiver, message } = await findOne(
    pool,
    Waits,
    `select extract(epoch from max(retry_at) filter (where not is_refused) - clock_timestamp())::float8 * 1000 as receiver,
       extract(epoch from min(retry_at) - clock_timestamp())::float8 * 1000 as message
     from ferry.events e cross join lateral (select ${isRefusedIn('e')} as is_refused) r
     where ${isToldIn('e')} and ${waitsIn('e')}`,
    [kinds, maxWaitMs, aboutTheMessage],
  )
  return { receiverMs: receiver, messageMs: message ?? Number.POSITIVE_INFINITY }
}

const Waits = z.object({ receiver: z.number().nullable(), message: z.number().nullable() })

/**
 * Loads the messages that are to be sent now, the oldest first; after all others come those that the receiver refused,
 * the one that has been due for longest first. A message waits while an earlier one about the same subject does or was
 * refused, or comes after it by the clock, which was set back then.
 */
export function loadDue(pool: Pool, { kinds, maxWaitMs, aboutTheMessage }: Policy): Promise<Pending[]> {
  return findAll(
    pool,
    PendingRow,
    `select id, message_id, kind, state, account, subject, data, at, attempts, is_refused, clock_timestamp() as now
     from ferry.events e cross join lateral (select ${isRefusedIn('e')} as is_refused) r
     where ${isToldIn('e')} and (${waitsIn('e')}) is not true and not exists (
       select from ferry.events o
       where o.kind = e.kind and o.account = e.account and o.subject = e.subject and o.id < e.id
         and ${isToldIn('o')} and (o.at > e.at or ${waitsIn('o')} or ${isRefusedIn('o')})
     )
     order by is_refused, case when is_refused then retry_at end, at, id limit $4`,
    [kinds, maxWaitMs, aboutTheMessage, MAX_MESSAGES],
  )
}

/** Records what a receiver answered, and when the message is sent again if it did not accept it. */
export async function recordResult(
  pool: Pool,
  id: string,
  result: CallResult,
  retryInMs: number,
): Promise<void> {
  await pool.query(
    `update ferry.events set attempts = attempts + 1, http_status = $2, failure = $3,
       delivered_at = case when $3::text is null then clock_timestamp() end,
       retry_at = clock_timestamp() + $4 * interval '1 ms'
     where id = $1 and delivered_at is null`,
    [id, result.httpStatus, result.ok ? null : result.why, result.ok ? null : retryInMs],
  )
}
