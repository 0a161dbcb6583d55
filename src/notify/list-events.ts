import type { Pool } from 'pg'
import { z } from 'zod'
import { onlyRow } from '#src/db/rows.ts'
import { counted } from '#src/model/counted.ts'
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

/**
 * Messages that a receiver did not accept: those that are sent again, those that were not tried yet and may wait behind them,
 * and those of the last week that are dead.
 */
export type Undelivered = { readonly waiting: number; readonly behind: number; readonly dead: number }

/** Counts them. Behind others wait only messages of `kinds`: those that the receiver wants. */
export async function countUndelivered(
  pool: Pool,
  kinds: readonly EventKind[] = EVENT_KINDS,
): Promise<Undelivered> {
  const { rows } = await pool.query<Undelivered>(
    `select count(*) filter (where attempts > 0 and not is_dead)::int as waiting,
       count(*) filter (where attempts = 0 and not is_dead and kind = any ($2))::int as behind,
       count(*) filter (where attempts > 0 and is_dead)::int as dead
     from ferry.events cross join lateral (select at <= statement_timestamp() - $1 * interval '1 hour' as is_dead) d
     where delivered_at is null and at > statement_timestamp() - interval '7 days'`,
    [DEAD_AFTER_HOURS, kinds],
  )
  return onlyRow(rows, 'the count of undelivered messages')
}

/** Says how many messages were not accepted; null if there is none. */
export function undeliveredInWords({ dead, waiting, behind }: Undelivered): string | null {
  const parts = [
    dead > 0 && `${counted(dead, 'message')} ${dead === 1 ? 'was' : 'were'} not accepted within a day`,
    waiting > 0 &&
      `${counted(waiting, 'message')} ${waiting === 1 ? 'waits' : 'wait'} to be sent again${behind > 0 ? `, and ${behind} more behind` : ''}`,
  ].filter(part => part !== false)
  return parts.length === 0 ? null : parts.join('; ')
}

/** Which events are wanted; what is left out does not narrow them. */
export type EventFilter = {
  readonly account?: string | undefined
  readonly kind?: EventKind | undefined
  /** The kinds that the receiver wants (every kind if it is left out): messages of others wait for nobody. */
  readonly told?: readonly EventKind[] | undefined
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
  { account, kind, told = EVENT_KINDS, deliveries, since, until, before }: EventFilter = {},
): Promise<ListedEvent[]> {
  const params: unknown[] = [DEAD_AFTER_HOURS, told]
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
           when at > statement_timestamp() - $1 * interval '1 hour' and kind = any ($2) then 'waiting'
           when attempts > 0 then 'dead' else 'not sent' end as delivery
       from ferry.events
     ) e
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by event desc limit ${param(limit, 'int')}`,
    params,
  )
  return EventRow.array().parse(rows)
}
