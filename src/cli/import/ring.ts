import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'

/** Tells the workers that an import is to be worked on. That it is queued stands in Postgres, whoever hears. */
export async function ringForImport(ferry: Ferry, id: bigint): Promise<void> {
  const { ringImport } = await import('#src/queue/imports.ts')
  const { openQueueToEnqueue } = await import('../queue.ts')
  const outOfReach = (more: object) =>
    ferry.log.warn({ import: id, ...more }, 'the queue is out of reach; a worker finds the import by itself')
  try {
    if (!(await ringImport(await openQueueToEnqueue(ferry), id))) outOfReach({})
  } catch (error) {
    outOfReach({ error: reasonOf(error) })
  }
}
