import { loadInstallation } from '#src/db/installation.ts'
import type { Ferry } from '#src/ferry.ts'
import { migrateQueue, openBackend, type QueueBackend } from '#src/queue/backend.ts'
import { checkQueue } from '#src/queue/check.ts'

/** Opens the queue of this database, with its tables brought up to date. */
export async function openQueue(ferry: Ferry): Promise<QueueBackend> {
  await migrateQueue(ferry.backend)
  return openBackendOf(ferry)
}

/** Opens the queue of this database; makes its tables if there are none, and leaves older ones as they are. */
export async function openQueueToEnqueue(ferry: Ferry): Promise<QueueBackend> {
  const { backend } = ferry
  await checkQueue({ ...backend, installation: null }).catch(() => migrateQueue(backend))
  return openBackendOf(ferry)
}

async function openBackendOf({ pool, backend, log }: Ferry): Promise<QueueBackend> {
  const { id } = await loadInstallation(pool)
  return openBackend({ ...backend, installation: id, log })
}
