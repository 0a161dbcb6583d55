import type { WorkerJob } from '#src/queue/job.ts'

/**
 * Rings for whatever is due, unfinished or left by a dead worker.
 *
 * Each worker runs it by its own timer, which a queue that was wiped cannot stop. It looks again when something is due, and
 * every 5 s at least, so that work goes on within seconds after a worker died; a look costs a few small queries.
 */
export const reconcile: WorkerJob = {
  name: 'reconcile',
  everyMs: 5_000,
  run: reconciler => reconciler.look(),
}
