import type { Pool } from 'pg'
import { z } from 'zod'
import { isAliveIn } from '#src/db/outbox.ts'
import { findAll, findColumn } from '#src/db/rows.ts'
import { counted } from '#src/model/counted.ts'
import {
  DELIVERIES,
  type DeliveryState,
  EVENT_KINDS,
  EVENT_STATES,
  type EventKind,
} from '#src/model/event.ts'
import { StoredData } from './pending.ts'

/** A message to one receiver. */
const ListedDelivery = z.object({
  receiver: z.string(),
  delivery: z.enum(DELIVERIES),
  attempts: z.number(),
  retryAt: z.iso
    .datetime({ offset: true })
    .transform(at => new Date(at))
    .nullable(),
  /** Why the last attempt failed, in words without the path of the receiver's address, which may be secret. */
  failure: z.string().nullable(),
})
export type ListedDelivery = Readonly<z.infer<typeof ListedDelivery>>

const EventRow = z.object({
  event: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  at: z.date(),
  data: StoredData,
  /** The worst of its messages. */
  delivery: z.enum(DELIVERIES),
  deliveries: z.array(ListedDelivery),
})

/** An event, and the outcome of its messages. */
export type ListedEvent = z.infer<typeof EventRow>

/**
 * Messages that a receiver did not accept: those that are sent again, those that were not tried yet and may wait behind them,
 * and those of the last week that are dead.
 */
const Undelivered = z.object({
  receiver: z.string(),
  waiting: z.number(),
  behind: z.number(),
  dead: z.number(),
})
export type Undelivered = Readonly<z.infer<typeof Undelivered>>

/** Counts them for each receiver that did not accept all: of these, or of all if null. What a digest will hold does not wait. */
export function countUndelivered(pool: Pool, receivers: readonly string[] | null): Promise<Undelivered[]> {
  return findAll(
    pool,
    Undelivered,
    `select * from (
       select receiver, count(*) filter (where attempts > 0 and not is_dead)::int as waiting,
         count(*) filter (where attempts = 0 and not is_dead)::int as behind,
         count(*) filter (where is_dead)::int as dead
       from ferry.deliveries cross join lateral (select not (${isAliveIn('')}) as is_dead) d
       where delivered_at is null and at > statement_timestamp() - interval '7 days' and at <= statement_timestamp()
         and ($1::text[] is null or receiver = any ($1))
       group by receiver
     ) u where waiting + dead > 0 order by receiver`,
    [receivers],
  )
}

/** Returns which of these receivers no worker has had in its settings so far: nobody sends them anything. */
export function listUnknownReceivers(pool: Pool, names: readonly string[]): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    'select n.name from unnest($1::text[]) n (name) where not exists (select from ferry.receivers r where r.name = n.name)',
    [names],
  )
}

/** Says how many messages were not accepted, and by whom; null if all were. */
export function undeliveredInWords(undelivered: readonly Undelivered[]): string | null {
  const parts = undelivered.flatMap(({ receiver, dead, waiting, behind }) => [
    dead > 0
      ? `${counted(dead, `message to ${receiver} was`, `messages to ${receiver} were`)} not accepted within a day`
      : [],
    waiting > 0
      ? `${counted(waiting, `message to ${receiver} waits`, `messages to ${receiver} wait`)} to be sent again${behind > 0 ? `, and ${behind} more behind` : ''}`
      : [],
  ])
  return parts.length === 0 ? null : parts.flat().join('; ')
}

/** Which events are wanted; what is left out does not narrow them. */
export type ListedFilter = {
  readonly event?: bigint | undefined
  readonly account?: string | undefined
  readonly kind?: EventKind | undefined
  /** Those with a message that has one of these results. */
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
  { event, account, kind, deliveries, since, until, before }: ListedFilter = {},
): Promise<ListedEvent[]> {
  const params: unknown[] = []
  const param = (value: unknown, type: string) => `$${params.push(value)}::${type}`
  // Only what is asked for, and no volatile function: then the first page is read by the index, not from all events.
  const wanted = [
    event === undefined ? [] : `event = ${param(event, 'bigint')}`,
    account === undefined ? [] : `account = ${param(account, 'text')}`,
    kind === undefined ? [] : `kind = ${param(kind, 'text')}`,
    deliveries === undefined ? [] : `states && ${param(deliveries, 'text[]')}`,
    since === undefined ? [] : `at >= ${param(since, 'timestamptz')}`,
    until === undefined ? [] : `at < ${param(until, 'timestamptz')}`,
    before === undefined ? [] : `event < ${param(before, 'bigint')}`,
  ].flat()
  return findAll(
    pool,
    EventRow,
    `select e.event, e.kind, e.state, e.account, e.subject, e.at, e.data, e.deliveries,
       (select s from unnest(array['dead', 'waiting', 'delivered', 'not sent']) with ordinality o (s, n)
        where s = any (e.states) order by n limit 1) as delivery
     from (
       select e.id as event, e.kind, e.state, e.account, e.subject, e.at, e.data, coalesce(d.list, '[]') as deliveries,
         coalesce(d.states, array[case when e.routed_at is null and ${isAliveIn('e.')} then 'waiting' else 'not sent' end]) as states
       from ferry.events e left join lateral (
         select jsonb_agg(jsonb_build_object('receiver', d.receiver, 'delivery', s.state, 'attempts', d.attempts,
             'retryAt', d.retry_at, 'failure', d.failure) order by d.receiver) as list,
           array_agg(s.state) as states
         from ferry.deliveries d cross join lateral (
           select case when d.delivered_at is not null then 'delivered' when ${isAliveIn('d.')} then 'waiting' else 'dead' end as state
         ) s where d.event = e.id
       ) d on true
     ) e
     where ${wanted.length === 0 ? 'true' : wanted.join(' and ')}
     order by event desc limit ${param(limit, 'int')}`,
    params,
  )
}

/** Returns the message about an event to a receiver, with the event; null if there is none. */
export async function findDelivery(
  pool: Pool,
  event: bigint,
  receiver: string,
): Promise<{ readonly event: ListedEvent; readonly message: ListedDelivery } | null> {
  const [found] = await listEvents(pool, 1, { event })
  const message = found?.deliveries.find(one => one.receiver === receiver)
  return found && message ? { event: found, message } : null
}
