import type { Ferry } from '#src/ferry.ts'
import { migrateQueue, openBackend } from '#src/queue/backend.ts'
import type { Job } from '#src/queue/job.ts'
import { openWorker } from '#src/queue/worker.ts'
import { loadInstallation } from '#src/store/installation.ts'

/** A worker of this process that does these jobs; drained at the end of the test at the latest. */
export async function work(ferry: Ferry, jobs: readonly Job[]) {
  await migrateQueue(ferry.backend)
  const { id } = await loadInstallation(ferry.pool)
  const backend = openBackend({ ...ferry.backend, installation: id, log: ferry.log })
  const worker = await openWorker(ferry, backend, jobs)
  let drained: Promise<void> | undefined
  const drain = (deadlineMs: number) => {
    drained ??= worker.drain(deadlineMs)
    return drained
  }
  return { drain, [Symbol.asyncDispose]: () => drain(5_000) }
}
