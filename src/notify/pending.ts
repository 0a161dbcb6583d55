import type { Pool } from 'pg'
import { z } from 'zod'
import { EVENT_KINDS, EVENT_STATES, type EventKind } from '#src/model/event.ts'
import type { CallResult } from './caller.ts'

/** A message that was not accepted for so long is sent no more: nobody needs yesterday's news. */
export const DEAD_AFTER_HOURS = 24

/** One look takes up to so many messages. */
export const MAX_MESSAGES = 100

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
  httpStatus: z.number().nullable(),
  /** Until it is to be sent again; less than 0 if it is. */
  waitMs: z.number(),
  /** The database's time. */
  now: z.date(),
})

/** A message that no receiver has accepted. */
export type Pending = z.infer<typeof PendingRow>

/** Loads the oldest messages of these kinds that are to be delivered, in their order. */
export async function loadPending(pool: Pool, kinds: readonly EventKind[]): Promise<Pending[]> {
  const { rows } = await pool.query(
    `select id, message_id as "messageId", kind, state, account, subject, data, at, attempts,
       http_status as "httpStatus", clock_timestamp() as now,
       coalesce(extract(epoch from retry_at - clock_timestamp())::float8 * 1000, 0) as "waitMs"
     from ferry.events
     where delivered_at is null and at > clock_timestamp() - $1 * interval '1 hour' and kind = any ($2)
     order by id limit $3`,
    [DEAD_AFTER_HOURS, kinds, MAX_MESSAGES],
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
