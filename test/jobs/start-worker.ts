import { defineSchedules } from '#jobs/schedules.ts'
import { loadInstallation } from '#src/db/installation.ts'
import type { Ferry } from '#src/ferry.ts'
import { migrateQueue, openBackend } from '#src/queue/backend.ts'
import { openWorker, type WorkerOptions } from '#src/worker/worker.ts'

/** A worker of this process that does these jobs, by their schedules unless told otherwise; drained at the end of the test at the latest. */
export async function startWorker(
  ferry: Ferry,
  options: Omit<WorkerOptions, 'schedules'> & Partial<WorkerOptions>,
) {
  const names = new Set(options.jobs.map(job => job.name))
  const schedules = defineSchedules(ferry).filter(({ name }) => names.has(name))
  await migrateQueue(ferry.backend)
  const { id } = await loadInstallation(ferry.pool)
  const backend = openBackend({ ...ferry.backend, installation: id, log: ferry.log })
  const worker = await openWorker(ferry, backend, { schedules, ...options })
  let drained: Promise<void> | undefined
  const drain = (deadlineMs: number) => {
    drained ??= worker.drain(deadlineMs)
    return drained
  }
  return { drain, [Symbol.asyncDispose]: () => drain(5_000) }
}
