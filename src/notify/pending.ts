import type { Pool } from 'pg'
import { z } from 'zod'
import { onlyRow } from '#src/db/rows.ts'
import { EVENT_KINDS, EVENT_STATES, type EventKind } from '#src/model/event.ts'
import type { CallResult } from './caller.ts'

/** A message that was not accepted for so long is sent no more: nobody needs yesterday's news. */
export const DEAD_AFTER_HOURS = 24

/** One look takes up to so many messages. */
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
  /** The database's time. */
  now: z.date(),
})

/** A message that is to be sent now. */
export type Pending = z.infer<typeof PendingRow>

/** Which messages are told, and when one that was not accepted is sent again. */
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
   and ${event}.at > statement_timestamp() - ${DEAD_AFTER_HOURS} * interval '1 hour'`
const waitsIn = (event: string) =>
  `${event}.retry_at > statement_timestamp() and ${event}.retry_at <= statement_timestamp() + $2 * interval '1 ms'`

/**
 * In how many milliseconds the receiver is tried again if it is not well (null if it is), and the first message that it
 * refused (Infinity if there is none).
 */
export async function loadWaits(
  pool: Pool,
  { kinds, maxWaitMs, aboutTheMessage }: Policy,
): Promise<{ readonly receiverMs: number | null; readonly messageMs: number }> {
  const { rows } = await pool.query<{ receiver: number | null; message: number | null }>(
    `select extract(epoch from max(retry_at) filter (where not is_refused) - clock_timestamp())::float8 * 1000 as receiver,
       extract(epoch from min(retry_at) - clock_timestamp())::float8 * 1000 as message
     from ferry.events e cross join lateral (select coalesce(e.http_status = any ($3), false) as is_refused) r
     where ${isToldIn('e')} and ${waitsIn('e')}`,
    [kinds, maxWaitMs, aboutTheMessage],
  )
  const { receiver, message } = onlyRow(rows, 'the waits of messages')
  return { receiverMs: receiver, messageMs: message ?? Number.POSITIVE_INFINITY }
}

/**
 * Loads the oldest messages that are to be sent now, in their order. One waits while an earlier one about the same subject
 * does, or comes after it by the clock, which was set back then.
 */
export async function loadDue(pool: Pool, { kinds, maxWaitMs }: Policy): Promise<Pending[]> {
  const { rows } = await pool.query(
    `select id, message_id as "messageId", kind, state, account, subject, data, at, attempts, clock_timestamp() as now
     from ferry.events e
     where ${isToldIn('e')} and (${waitsIn('e')}) is not true and not exists (
       select from ferry.events o
       where o.kind = e.kind and o.account = e.account and o.subject = e.subject and o.id < e.id
         and ${isToldIn('o')} and (o.at > e.at or ${waitsIn('o')})
     )
     order by at, id limit $3`,
    [kinds, maxWaitMs, MAX_MESSAGES],
  )
  return PendingRow.array().parse(rows)
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
