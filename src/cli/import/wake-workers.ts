import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'

/** Wakes the workers for an import that is queued. If the queue does not answer, a worker finds the import by itself. */
export async function wakeWorkersFor(ferry: Ferry, id: bigint): Promise<void> {
  const { enqueueImport } = await import('#src/worker/wake-ups.ts')
  const { openQueueToEnqueue } = await import('../queue.ts')
  const notEnqueued = (more: object) =>
    ferry.log.warn({ import: id, ...more }, 'The queue does not answer; a worker finds the import by itself.')
  try {
    const queue = (await openQueueToEnqueue(ferry)).openQueue('import')
    const isEnqueued = await enqueueImport(queue, id).finally(() => queue.close())
    if (!isEnqueued) notEnqueued({})
  } catch (error) {
    notEnqueued({ error: reasonOf(error) })
  }
}
