import type { Ferry } from '#src/ferry.ts'
import { openBackend, type QueueBackend } from '#src/queue/backend.ts'
import { loadInstallation } from '#src/store/installation.ts'

/** The queue of this database: on Redis or in Postgres, under a name no other database uses. */
export async function openQueue({ pool, backend, log }: Ferry): Promise<QueueBackend> {
  const { id } = await loadInstallation(pool)
  return openBackend({ ...backend, installation: id, log })
}
