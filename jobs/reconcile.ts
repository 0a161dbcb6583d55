import type { WorkerJob } from '#src/queue/job.ts'

/**
 * Rings for whatever is due, unfinished or left by a dead worker.
 *
 * Each worker runs it by its own timer: a queue that was wiped cannot be what notices that the queue was wiped.
 * 5 s, so that work goes on within seconds; a look costs two small queries and one question to the queue.
 */
export const reconcile: WorkerJob = {
  name: 'reconcile',
  everyMs: 5_000,
  run: reconciler => reconciler.look(),
}
