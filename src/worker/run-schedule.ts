import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { ActedBy } from '#src/model/act.ts'
import type { QueueBackend } from '#src/queue/backend.ts'
import { requestRun } from '#src/schedules/control.ts'
import type { Schedule, ScheduleKey } from '#src/schedules/definition.ts'
import { enqueueSchedule } from './wake-ups.ts'

/**
 * Has a worker run each matching schedule now, paused or not; returns which. It is recorded in Postgres first, so a worker
 * finds it even if the queue does not answer or loses the wake-up. Throws `UnknownSchedule`.
 */
export async function runSchedule(
  { pool, log }: { readonly pool: Pool; readonly log: Logger },
  backend: QueueBackend,
  schedules: readonly Schedule[],
  name: string,
  account: string | undefined,
  by: ActedBy,
): Promise<ScheduleKey[]> {
  const requested = await requestRun(pool, schedules, name, account, by)
  const queue = backend.openQueue('sync')
  try {
    for (const { key, slot } of requested) {
      if (await enqueueSchedule(queue, key, slot)) continue
      log.warn(key, 'The queue does not answer; a worker begins once it does.')
    }
  } finally {
    await queue.close()
  }
  return requested.map(({ key }) => key)
}
