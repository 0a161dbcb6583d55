import type { Pool } from 'pg'
import { z } from 'zod'
import { isAliveIn } from '#src/db/outbox.ts'
import { findAll, findOne } from '#src/db/rows.ts'
import { EVENT_KINDS, EVENT_STATES } from '#src/model/event.ts'
import type { CallResult } from './caller.ts'

/** One look sends at most this many messages; a digest is one, of at most as many. */
const MAX_MESSAGES = 100
const MAX_IN_DIGEST = 1_000

/** What an event tells beside its key, as it is stored. */
export const StoredData = z.record(
  z.string(),
  z.union([z.string(), z.number(), z.array(z.string()), z.null()]),
)

const PendingRow = z.object({
  event: z.string(),
  messageId: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  data: StoredData,
  /** When it happened. */
  happenedAt: z.date(),
  /** When it is sent first, in microseconds since 1970: the messages of a digest have the same. */
  due: z.string(),
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
  readonly receiver: string
  /** A digest waits for its time. Any other message is sent, although a clock that was set back says that it is early. */
  readonly isDigest: boolean
  /** With these a receiver refuses one message for what is in it. Any other failure says that the receiver is not well. */
  readonly aboutTheMessage: readonly number[]
  /** No message waits longer. One that does is from before the database's clock was set back: it is sent. */
  readonly maxWaitMs: number
}

/*
 * The conditions are of stable functions, so that the indexes of `ferry.deliveries` lead to the messages: the table may hold a
 * million, and all but a few are delivered or dead.
 */
const isToldIn = (row: string) =>
  `${row}.delivered_at is null and ${row}.receiver = $1
   and ${isAliveIn(`${row}.`)} and (not $4 or ${row}.at <= statement_timestamp())`
const isRefusedIn = (row: string) => `coalesce(${row}.http_status = any ($3), false)`
const waitsIn = (row: string) =>
  `${row}.retry_at > statement_timestamp() and ${row}.retry_at <= statement_timestamp() + $2 * interval '1 ms'`

const paramsOf = ({ receiver, maxWaitMs, aboutTheMessage, isDigest }: Policy) => [
  receiver,
  maxWaitMs,
  aboutTheMessage,
  isDigest,
]

/**
 * In how many milliseconds to try again: the receiver if it is not well (else null), and the first message that it refused
 * (Infinity without one).
 */
export async function loadWaits(
  pool: Pool,
  policy: Policy,
): Promise<{ readonly receiverMs: number | null; readonly messageMs: number }> {
  const { receiver, message } = await findOne(
    pool,
    Waits,
    `select extract(epoch from max(retry_at) filter (where not is_refused) - clock_timestamp())::float8 * 1000 as receiver,
       extract(epoch from min(retry_at) - clock_timestamp())::float8 * 1000 as message
     from ferry.deliveries d cross join lateral (select ${isRefusedIn('d')} as is_refused) r
     where ${isToldIn('d')} and ${waitsIn('d')}`,
    paramsOf(policy),
  )
  return { receiverMs: receiver, messageMs: message ?? Number.POSITIVE_INFINITY }
}

const Waits = z.object({ receiver: z.number().nullable(), message: z.number().nullable() })

/**
 * Loads the messages that are to be sent now, the oldest first; after all others come those that the receiver refused,
 * the one that has been due for longest first. A message waits while an earlier one about the same subject does or was
 * refused, or comes after it by the clock, which was set back then. All messages of a digest are sent at once.
 */
export function loadDue(pool: Pool, policy: Policy): Promise<Pending[]> {
  return findAll(
    pool,
    PendingRow,
    `select d.event, e.message_id, d.kind, e.state, d.account, d.subject, d.data, e.at as happened_at,
       (extract(epoch from d.at) * 1000000)::bigint::text as due, d.attempts, d.is_refused, clock_timestamp() as now
     from (
       select d.*, r.is_refused from ferry.deliveries d cross join lateral (select ${isRefusedIn('d')} as is_refused) r
       where ${isToldIn('d')} and (${waitsIn('d')}) is not true and ($4 or not exists (
         select from ferry.deliveries o
         where o.kind = d.kind and o.account = d.account and o.subject = d.subject and o.event < d.event
           and ${isToldIn('o')} and (o.at > d.at or ${waitsIn('o')} or ${isRefusedIn('o')})
       ))
       order by is_refused, case when is_refused then retry_at end, at, event limit $5
     ) d join ferry.events e on e.id = d.event
     order by is_refused, case when is_refused then retry_at end, d.at, d.event`,
    [...paramsOf(policy), policy.isDigest ? MAX_IN_DIGEST : MAX_MESSAGES],
  )
}

type Accepted = { readonly events: readonly string[]; readonly result: CallResult }

/**
 * Records what a receiver accepted. If Postgres cannot be told, it is kept for the next look of this process, which begins with
 * `write`: so nothing else is sent meanwhile, and what is kept is one message or one digest. It is lost with the process.
 */
export class Acceptances {
  readonly #pool: Pool
  readonly #receiver: string
  #unwritten: Accepted | null = null

  constructor(pool: Pool, receiver: string) {
    this.#pool = pool
    this.#receiver = receiver
  }

  async record(events: readonly string[], result: CallResult): Promise<void> {
    this.#unwritten = { events, result }
    await this.write()
  }

  /** Writes what is kept, if anything is. */
  async write(): Promise<void> {
    if (this.#unwritten === null) return
    const { events, result } = this.#unwritten
    await recordResult(this.#pool, this.#receiver, events, result, null)
    this.#unwritten = null
  }
}

/** Records what a receiver answered to messages, and when they are sent again if it did not accept them. */
export async function recordResult(
  pool: Pool,
  receiver: string,
  events: readonly string[],
  result: CallResult,
  retryInMs: number | null,
): Promise<void> {
  await pool.query(
    `update ferry.deliveries set attempts = attempts + 1, http_status = $3, failure = $4,
       delivered_at = case when $4::text is null then clock_timestamp() end,
       retry_at = clock_timestamp() + $5 * interval '1 ms'
     where receiver = $1 and event = any ($2::bigint[]) and delivered_at is null`,
    [receiver, events, result.httpStatus, result.ok ? null : result.why, retryInMs],
  )
}
