import type { QueueBackend } from './backend.ts'
import type { Job, JobContext } from './job.ts'

export type FerryWorker = {
  /** Stops: no new work, what is under way may end until 5/6 of the deadline, then it is aborted and given back. */
  drain(deadlineMs: number): Promise<void>
}

export async function openWorker(
  _ferry: JobContext,
  _backend: QueueBackend,
  _jobs: readonly Job[],
): Promise<FerryWorker> {
  throw new Error('under construction')
}
