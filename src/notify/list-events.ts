import type { Pool } from 'pg'
import { z } from 'zod'
import { onlyRow } from '#src/db/rows.ts'
import { EVENT_KINDS, EVENT_STATES, type EventKind } from '#src/model/event.ts'
import { DEAD_AFTER_HOURS, StoredData } from './pending.ts'

/**
 * What became of a message. dead: no receiver accepted it within a day. not sent: no receiver was set, or it does not want
 * this kind.
 */
export const DELIVERIES = ['delivered', 'waiting', 'dead', 'not sent'] as const
export type DeliveryState = (typeof DELIVERIES)[number]

const EventRow = z.object({
  event: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  at: z.date(),
  data: StoredData,
  delivery: z.enum(DELIVERIES),
  attempts: z.number(),
  retryAt: z.date().nullable(),
  /** Why the last attempt failed, in words without the path of the receiver's address, which may be secret. */
  failure: z.string().nullable(),
})

/** An event, and what became of its message. */
export type ListedEvent = z.infer<typeof EventRow>

/** What became of a message, in words. Without a webhook a message that was never sent waits for nobody. */
export function deliveryInWords(
  { delivery, attempts }: Pick<ListedEvent, 'delivery' | 'attempts'>,
  hasWebhook: boolean,
): string {
  const isToldNobody = !hasWebhook && delivery === 'waiting' && attempts === 0
  return isToldNobody ? 'told nobody: no webhook is set' : delivery
}

/** Counts messages that a receiver did not accept: those that are sent again, and those of the last week that are dead. */
export async function countUndelivered(pool: Pool): Promise<{ waiting: number; dead: number }> {
  const { rows } = await pool.query<{ waiting: number; dead: number }>(
    `select count(*) filter (where at > clock_timestamp() - $1 * interval '1 hour')::int as waiting,
       count(*) filter (where at <= clock_timestamp() - $1 * interval '1 hour')::int as dead
     from ferry.events
     where delivered_at is null and attempts > 0 and at > clock_timestamp() - interval '7 days'`,
    [DEAD_AFTER_HOURS],
  )
  return onlyRow(rows, 'the count of undelivered messages')
}

/** Says how many messages were not accepted; null if there is none. */
export function undeliveredInWords({ dead, waiting }: { dead: number; waiting: number }): string | null {
  const parts = [
    dead > 0 && `${messages(dead)} ${dead === 1 ? 'was' : 'were'} not accepted within a day`,
    waiting > 0 && `${messages(waiting)} ${waiting === 1 ? 'waits' : 'wait'} to be sent again`,
  ].filter(part => part !== false)
  return parts.length === 0 ? null : parts.join('; ')
}

function messages(count: number): string {
  return `${count.toLocaleString('en-US')} ${count === 1 ? 'message' : 'messages'}`
}

/** Which events are wanted; what is left out does not narrow them. */
export type EventFilter = {
  readonly account?: string | undefined
  readonly kind?: EventKind | undefined
  readonly deliveries?: readonly DeliveryState[] | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Only events with a lower number: those that come after it in the list. */
  readonly before?: bigint | undefined
}

/** Returns the newest events first, at most `limit`. */
export async function listEvents(
  pool: Pool,
  limit: number,
  { account, kind, deliveries, since, until, before }: EventFilter = {},
): Promise<ListedEvent[]> {
  const params: unknown[] = [DEAD_AFTER_HOURS]
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`
  // Only what is asked for, and no volatile function: then the first page is read by the index, not from all events.
  const wanted = [
    account === undefined ? [] : `account = ${param(account, 'text')}`,
    kind === undefined ? [] : `kind = ${param(kind, 'text')}`,
    deliveries === undefined ? [] : `delivery = any (${param(deliveries, 'text[]')})`,
    since === undefined ? [] : `at >= ${param(since, 'timestamptz')}`,
    until === undefined ? [] : `at < ${param(until, 'timestamptz')}`,
    before === undefined ? [] : `event < ${param(before, 'bigint')}`,
  ].flat()
  const { rows } = await pool.query(
    `select * from (
       select id as event, kind, state, account, subject, at, data, attempts, retry_at as "retryAt", failure,
         case when delivered_at is not null then 'delivered'
           when at > statement_timestamp() - $1 * interval '1 hour' then 'waiting'
           when attempts > 0 then 'dead' else 'not sent' end as delivery
       from ferry.events
     ) e
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by event desc limit ${param(limit, 'int')}`,
    params,
  )
  return EventRow.array().parse(rows)
}
