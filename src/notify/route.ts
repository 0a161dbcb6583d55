import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { isAliveIn } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { findAll, findMaybe, findOne, findValue } from '#src/db/rows.ts'
import { tickAfter } from '#src/model/cron-time.ts'
import { EVENT_KINDS, EVENT_STATES, type EventData, isRuleEvent } from '#src/model/event.ts'
import type { Receiver } from '#src/model/settings.ts'
import { StoredData } from './pending.ts'
import { dataOfRules, type SummarizeRules } from './rule-events.ts'

/*
 * Decides which receivers get a message about an event, once, and stores what each is told: `ferry.deliveries`.
 *
 * - A receiver gets what happens after a worker first had it in its settings.
 * - That something is over is told to those who were told that it began.
 * - A cause is told once, however many events have it, and once that it is over for all of them.
 * - Of rules, each receiver is told of those that its filter chooses, counted in the versions of the run.
 */

export type Routing = {
  readonly pool: Pool
  readonly receivers: readonly Receiver[]
  readonly timezone: string
  readonly summarizeRules: SummarizeRules
}

const UnroutedRow = z.object({
  id: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  data: StoredData,
  at: z.date(),
})
export type Unrouted = z.infer<typeof UnroutedRow>

/** One transaction takes at most this many events. */
const MAX_EVENTS = 200

/** Routes what was written since the last time. Returns whether there may be more. */
export function routeEvents({ pool, receivers, timezone, summarizeRules }: Routing): Promise<boolean> {
  return inTransaction(pool, async client => {
    const knownAfter = await knownAfterOf(client, receivers)
    const found = await findAll(
      client,
      UnroutedRow,
      `select id, kind, state, account, subject, data, at from ferry.events
       where routed_at is null and ${isAliveIn('')} order by at, id limit $1 for update skip locked`,
      [MAX_EVENTS],
    )
    const events = found.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)))
    for (const receiver of receivers) {
      const after = knownAfter.get(receiver.name)
      if (after === undefined) continue
      const wanted = events.filter(event => BigInt(event.id) > after && wants(receiver, event))
      const rules = await dataOfRules(client, receiver, wanted.filter(isOfRules), summarizeRules)
      for (const event of wanted) {
        const data = isOfRules(event) ? rules.get(event.id) : event.data
        if (data && !(await isTold(client, receiver, event))) {
          await saveDelivery(client, receiver, timezone, { ...event, data })
        }
      }
    }
    await client.query(
      'update ferry.events set routed_at = clock_timestamp() where id = any ($1::bigint[])',
      [events.map(({ id }) => id)],
    )
    return found.length === MAX_EVENTS
  })
}

/** Records receivers that are new: they are told of what happens from now on. */
export async function registerReceivers(
  pool: Pool,
  receivers: readonly Pick<Receiver, 'name'>[],
): Promise<void> {
  await pool.query(
    `insert into ferry.receivers (name, after_event)
     select name, (select coalesce(max(id), 0) from ferry.events) from unnest($1::text[]) name on conflict do nothing`,
    [receivers.map(({ name }) => name)],
  )
}

/** After which event each of the receivers is told of what happens. */
async function knownAfterOf(
  client: PoolClient,
  receivers: readonly Pick<Receiver, 'name'>[],
): Promise<ReadonlyMap<string, bigint>> {
  const known = await findAll(
    client,
    Known,
    'select name, after_event from ferry.receivers where name = any ($1)',
    [receivers.map(({ name }) => name)],
  )
  return new Map(known.map(({ name, afterEvent }) => [name, BigInt(afterEvent)]))
}

const Known = z.object({ name: z.string(), afterEvent: z.string() })

/** Whether a receiver wants an event, as far as its kind and its account tell. */
export function wants(
  { kinds, filter }: Pick<Receiver, 'kinds' | 'filter'>,
  { kind, account }: Pick<Unrouted, 'kind' | 'account'>,
): boolean {
  return kinds.includes(kind) && (filter.accounts?.includes(account) ?? true)
}

function isOfRules({ kind }: Unrouted): boolean {
  return isRuleEvent(kind)
}

/** Whether a receiver needs no message about an event. */
function isTold(client: PoolClient, receiver: Receiver, event: Unrouted): Promise<boolean> {
  return event.data.cause ? isCauseTold(client, receiver, event) : wasBeginningUntold(client, receiver, event)
}

/** Of a message, that it was accepted, or still may be. */
const IS_TOLD = `(d.delivered_at is not null or ${isAliveIn('d.')})`

/** Whether it is over, and the receiver was not told that it began. */
async function wasBeginningUntold(
  client: PoolClient,
  { name }: Receiver,
  { id, kind, state, account, subject }: Unrouted,
): Promise<boolean> {
  if (state === 'raised') return false
  const beginning = await findMaybe(
    client,
    Beginning,
    `select exists (select from ferry.deliveries d where d.event = e.id and d.receiver = $5 and ${IS_TOLD}) as was_told
     from ferry.events e
     where e.kind = $1 and e.account = $2 and e.subject = $3 and e.id < $4 and e.state = 'raised'
     order by e.id desc limit 1`,
    [kind, account, subject, id, name],
  )
  return beginning?.wasTold === false
}

const Beginning = z.object({ wasTold: z.boolean() })

/**
 * Whether the receiver knows of a cause already, or that it is over:
 *
 *     untold ──► the first event that has it ──► told ──► the end of the last of them ──► untold
 *
 * A night without a snapshot is a consequence, which stays for a day: its end is not waited for.
 */
async function isCauseTold(
  client: PoolClient,
  { name, kinds }: Receiver,
  { id, state, account, data }: Unrouted,
): Promise<boolean> {
  const { told, isElsewhere } = await findOne(
    client,
    CauseNow,
    `select
       (select e.state from ferry.events e
        where e.kind = any ($5) and e.account = $1 and e.data ->> 'cause' = $2 and e.id < $3
          and exists (select from ferry.deliveries d where d.event = e.id and d.receiver = $4 and ${IS_TOLD})
        order by e.id desc limit 1) as told,
       exists (
         select from ferry.events e
         where e.is_open and e.account = $1 and e.data ->> 'cause' = $2 and e.kind = any ($5)
           and case when $6 then e.id < $3 else e.id <> $3 and e.kind <> 'night.missed' end) as is_elsewhere`,
    [account, data.cause, id, name, kinds, state === 'raised'],
  )
  if (state === 'resolved') return told !== 'raised' || isElsewhere
  return told === 'raised' && isElsewhere
}

/**
 * What the receiver was told last of a cause, and whether another open event that it wants has it: an earlier one, if this one begins.
 * Of two that begin at once, the first is told.
 */
const CauseNow = z.object({ told: z.enum(EVENT_STATES).nullable(), isElsewhere: z.boolean() })

async function saveDelivery(
  client: PoolClient,
  { name, digestCron }: Receiver,
  timezone: string,
  { id, kind, account, subject, data, at }: Omit<Unrouted, 'data'> & { readonly data: EventData },
): Promise<void> {
  const due = digestCron === null ? at : await nextDigestAt(client, digestCron, timezone)
  await client.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at)
     values ($1, $2, $3, $4, $5, $6, $7) on conflict do nothing`,
    [id, name, kind, account, subject, data, due],
  )
}

/** By the clock of the database: what is routed after it belongs to the next one. */
async function nextDigestAt(client: PoolClient, cron: string, timezone: string): Promise<Date> {
  return tickAfter({ cron, timezone }, await findValue(client, z.date(), 'select clock_timestamp()'))
}
