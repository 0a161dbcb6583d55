import type { Pool } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { isAliveIn } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { countOf } from '#src/db/rows.ts'
import type { ActedBy } from '#src/model/act.ts'

/** Which message: the one about an event to a receiver. */
export type DeliveryKey = { readonly event: bigint; readonly account: string; readonly receiver: string }

/**
 * Has a message sent once more that was delivered or is dead, under the id that it had, and records who asked for it. Returns
 * false, and does nothing, if it waits to be sent anyway.
 */
export function sendAgain(
  pool: Pool,
  { event, account, receiver }: DeliveryKey,
  by: ActedBy,
): Promise<boolean> {
  return inTransaction(pool, async client => {
    const again = await client.query(
      `update ferry.deliveries set at = clock_timestamp(), attempts = 0, retry_at = null, delivered_at = null,
         http_status = null, failure = null
       where event = $1 and receiver = $2
         and (delivered_at is not null or not (${isAliveIn('')}))`,
      [event, receiver],
    )
    if (countOf(again) === 0) return false
    const act = { account, action: 'send', subjectKind: 'event', subject: `${event}` } as const
    await recordActs(client, by, [act])
    return true
  })
}
