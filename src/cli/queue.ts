import type { Ferry } from '#src/ferry.ts'
import { migrateQueue, openBackend, type QueueBackend } from '#src/queue/backend.ts'
import { checkQueue } from '#src/queue/check.ts'
import { loadInstallation } from '#src/store/installation.ts'

/** The queue of this database, brought up to date. */
export async function openQueue(ferry: Ferry): Promise<QueueBackend> {
  await migrateQueue(ferry.backend)
  return openBackendOf(ferry)
}

/** The queue of this database, made where there is none; an older one stays as it is. */
export async function openQueueToEnqueue(ferry: Ferry): Promise<QueueBackend> {
  const { backend } = ferry
  await checkQueue({ ...backend, installation: null }).catch(() => migrateQueue(backend))
  return openBackendOf(ferry)
}

async function openBackendOf({ pool, backend, log }: Ferry): Promise<QueueBackend> {
  const { id } = await loadInstallation(pool)
  return openBackend({ ...backend, installation: id, log })
}
