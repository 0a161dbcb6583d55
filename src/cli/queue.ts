import type { Ferry } from '#src/ferry.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { QueueBackend } from '#src/queue/backend.ts'

/** Opens the queue of this database. Creates its tables if they are missing, and leaves older ones as they are. */
export async function openQueue({ pool, backend, log }: Ferry): Promise<QueueBackend> {
  const { migrateQueue, openBackend } = await import('#src/queue/backend.ts')
  const { checkQueue } = await import('#src/queue/check.ts')
  const { loadInstallation } = await import('#src/db/installation.ts')
  await checkQueue({ ...backend, installation: null }).catch(() => migrateQueue(backend))
  const { id } = await loadInstallation(pool)
  return openBackend({ ...backend, installation: id, log })
}

/** Wakes the workers for an import that is queued. If the queue does not answer, a worker finds the import by itself. */
export async function wakeWorkersFor(ferry: Ferry, id: bigint): Promise<void> {
  const { enqueueImport } = await import('#src/worker/wake-ups.ts')
  const notEnqueued = (more: object) =>
    ferry.log.warn({ import: id, ...more }, 'The queue does not answer; a worker finds the import by itself.')
  try {
    const queue = (await openQueue(ferry)).openQueue('import')
    const isEnqueued = await enqueueImport(queue, id).finally(() => queue.close())
    if (!isEnqueued) notEnqueued({})
  } catch (error) {
    notEnqueued({ error: reasonOf(error) })
  }
}
