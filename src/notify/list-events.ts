import type { Pool } from 'pg'
import { z } from 'zod'
import { onlyRow } from '#src/db/rows.ts'
import { EVENT_KINDS, EVENT_STATES } from '#src/model/event.ts'
import { DEAD_AFTER_HOURS } from './pending.ts'

const EventRow = z.object({
  event: z.string(),
  kind: z.enum(EVENT_KINDS),
  state: z.enum(EVENT_STATES),
  account: z.string(),
  subject: z.string(),
  at: z.date(),
  /** dead: no receiver accepted it within a day. not sent: no receiver was set, or it does not want this kind. */
  delivery: z.enum(['delivered', 'waiting', 'dead', 'not sent']),
  attempts: z.number(),
  retryAt: z.date().nullable(),
  failure: z.string().nullable(),
})

/** An event, and what became of its message. */
export type ListedEvent = z.infer<typeof EventRow>

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

/** Loads the newest events; `undelivered`: only those that wait or are dead. */
export async function listEvents(pool: Pool, limit: number, undelivered: boolean): Promise<ListedEvent[]> {
  const { rows } = await pool.query(
    `select * from (
       select id as event, kind, state, account, subject, at, attempts, retry_at as "retryAt", failure,
         case when delivered_at is not null then 'delivered'
           when at > clock_timestamp() - $1 * interval '1 hour' then 'waiting'
           when attempts > 0 then 'dead' else 'not sent' end as delivery
       from ferry.events
     ) e
     where not $2 or delivery in ('waiting', 'dead')
     order by event desc limit $3`,
    [DEAD_AFTER_HOURS, undelivered, limit],
  )
  return EventRow.array().parse(rows)
}
