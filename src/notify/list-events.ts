import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findOne } from '#src/db/rows.ts'
import { counted } from '#src/model/counted.ts'
import {
  DELIVERIES,
  type DeliveryState,
  EVENT_KINDS,
  EVENT_STATES,
  type EventKind,
} from '#src/model/event.ts'
import { isAliveIn, StoredData } from './pending.ts'

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

/** An event, and the outcome of its message. */
export type ListedEvent = z.infer<typeof EventRow>

/**
 * Messages that a receiver did not accept: those that are sent again, those that were not tried yet and may wait behind them,
 * and those of the last week that are dead.
 */
const Undelivered = z.object({ waiting: z.number(), behind: z.number(), dead: z.number() })
export type Undelivered = Readonly<z.infer<typeof Undelivered>>

/** Counts them. Behind others wait only messages of `kinds`: those that the receiver wants. */
export function countUndelivered(
  pool: Pool,
  kinds: readonly EventKind[] = EVENT_KINDS,
): Promise<Undelivered> {
  return findOne(
    pool,
    Undelivered,
    `select count(*) filter (where attempts > 0 and not is_dead)::int as waiting,
       count(*) filter (where attempts = 0 and not is_dead and kind = any ($1))::int as behind,
       count(*) filter (where attempts > 0 and is_dead)::int as dead
     from ferry.events cross join lateral (select not (${isAliveIn('')}) as is_dead) d
     where delivered_at is null and at > statement_timestamp() - interval '7 days'`,
    [kinds],
  )
}

/** Says how many messages were not accepted; null if all were. */
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
  /** The kinds that the receiver wants (every kind if it is left out): messages of others are not sent. */
  readonly sentKinds?: readonly EventKind[] | undefined
  readonly deliveries?: readonly DeliveryState[] | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Only events with a lower number: those that come after it in the list. */
  readonly before?: bigint | undefined
}

/** Returns the newest events first, at most `limit`. */
export function listEvents(
  pool: Pool,
  limit: number,
  { account, kind, sentKinds = EVENT_KINDS, deliveries, since, until, before }: EventFilter = {},
): Promise<ListedEvent[]> {
  const params: unknown[] = [sentKinds]
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
  return findAll(
    pool,
    EventRow,
    `select * from (
       select id as event, kind, state, account, subject, at, data, attempts, retry_at, failure,
         case when delivered_at is not null then 'delivered'
           when ${isAliveIn('')} and kind = any ($1) then 'waiting'
           when attempts > 0 then 'dead' else 'not sent' end as delivery
       from ferry.events
     ) e
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by event desc limit ${param(limit, 'int')}`,
    params,
  )
}
