import type { Ferry } from '#src/ferry.ts'
import { migrateQueue, openBackend, type QueueBackend } from '#src/queue/backend.ts'
import { loadInstallation } from '#src/store/installation.ts'

/** The queue of this database, brought up to date. */
export async function openQueue({ pool, backend, log }: Ferry): Promise<QueueBackend> {
  await migrateQueue(backend)
  const { id } = await loadInstallation(pool)
  return openBackend({ ...backend, installation: id, log })
}
