import type { PoolClient } from 'pg'
import { type EventData, type EventKey, type EventKind, MOMENTARY } from '#src/model/event.ts'
import { and, drizzleOf, eq, sql } from './drizzle.ts'
import { countOf } from './rows.ts'
import { events } from './schema.ts'

/*
 * The outbox: events for the people on call. A row is written in the transaction that makes it true, so that it
 * is neither lost nor told of something that did not happen. `src/notify/` delivers the rows.
 *
 *     raiseEvent ──► raised, open ──► resolveEvent ──► resolved
 *         └── already open: nothing is written
 */

/**
 * Writes that something began or happened. Returns false, and writes nothing, if an event of this key is open already.
 * Another transaction that raises the same one is waited for.
 */
export async function raiseEvent(client: PoolClient, key: EventKey, data: EventData = {}): Promise<boolean> {
  const inserted = await drizzleOf(client)
    .insert(events)
    .values({ ...key, state: 'raised', data, is_open: !MOMENTARY.includes(key.kind) })
    .onConflictDoNothing({
      target: [events.kind, events.account, events.subject],
      where: sql`is_open`,
    })
  return countOf(inserted) === 1
}

/** A message that was not accepted for this long is not sent any more: nobody needs yesterday's news. */
const DEAD_AFTER_HOURS = 24

/** SQL that says whether an event or a message is young enough to be sent; `row` is its name, and a dot. */
export const isAliveIn = (row: string) =>
  `${row}at > statement_timestamp() - ${DEAD_AFTER_HOURS} * interval '1 hour'`

/** Writes that what was raised is over, with what was known of it. Returns false if no event of this key is open. */
export async function resolveEvent(client: PoolClient, key: EventKey): Promise<boolean> {
  const { kind, account, subject } = key
  const resolved = await client.query(
    `with ended as (
       update ferry.events set is_open = false
       where kind = $1 and account = $2 and subject = $3 and is_open returning kind, account, subject, data
     )
     insert into ferry.events (kind, state, account, subject, data)
     select kind, 'resolved', account, subject, data from ended`,
    [kind, account, subject],
  )
  return countOf(resolved) === 1
}

/** Makes the open events of one kind those that are true now: raises what is missing, and resolves what is over. */
export async function setOpenEvents(
  client: PoolClient,
  kind: EventKind,
  trueNow: readonly (Omit<EventKey, 'kind'> & { readonly data: EventData })[],
): Promise<void> {
  const { account, subject } = events
  const open = await drizzleOf(client)
    .select({ account, subject })
    .from(events)
    .where(and(eq(events.kind, kind), events.is_open))
  const nameOf = (one: Omit<EventKey, 'kind'>) => JSON.stringify([one.account, one.subject])
  const [before, now] = [new Set(open.map(nameOf)), new Set(trueNow.map(nameOf))]
  for (const { data, ...about } of trueNow) {
    if (!before.has(nameOf(about))) await raiseEvent(client, { kind, ...about }, data)
  }
  for (const about of open) if (!now.has(nameOf(about))) await resolveEvent(client, { kind, ...about })
}
