import type { Job, JobContext, JobSignals } from '#jobs/job.ts'
import { findImport } from '#src/imports/sending/find-import.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import { listWaitingImports } from '#src/imports/sending/waiting-imports.ts'
import { isActive } from '#src/model/import.ts'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import type { Processed } from '#src/queue/consumer.ts'
import type { ImportWakeUp } from '#src/queue/messages.ts'
import type { Producer } from '#src/queue/producer.ts'
import type { Capacity } from './capacity.ts'
import { enqueueImport } from './wake-ups.ts'

export type ImportProcessor = {
  readonly context: JobContext
  readonly jobs: readonly Job[]
  readonly queue: ImportQueue
  readonly capacity: Capacity
  /** Is told of each import whose work ended here. */
  readonly onEnd: (importId: bigint) => Promise<void>
}

export type ImportQueue = Pick<Producer<ImportWakeUp>, 'add' | 'getWaitingCount'>

/**
 * Works on the import that a wake-up names, then enqueues those that may go on: this one too if it has only yielded.
 * Whether there is anything to do, and whether it is this worker's turn, is for Postgres to say. A fault is logged; the
 * reconciler enqueues the import again.
 *
 *     confirmed, resumed ──► wake-up ──► a pass of work ──► wake-ups for those that wait then
 *     reconciler ──────────────▲
 */
export async function processImport(
  { context, jobs, queue, capacity, onEnd }: ImportProcessor,
  name: string,
  wakeUp: ImportWakeUp,
  signals: JobSignals,
): Promise<Processed> {
  const job = jobs.find(candidate => candidate.name === name)
  if (!job) return 'done'
  const importId = BigInt(wakeUp.import)
  const head = await findImport(context.pool, importId)
  const free = head && capacity.take(head.account)
  if (!free) return 'done'
  try {
    const { status } = await job.run(context, wakeUp, signals)
    const wasActive = isActive(head.status)
    if (wasActive && (status === 'succeeded' || status === 'held')) await onEnd(importId)
    if (status === 'stopped') return 'given back'
    if (status !== 'skipped') await enqueueWaiting(context, queue)
  } catch (error) {
    context.log[isTransient(error) ? 'debug' : 'error'](
      { import: importId, error: reasonOf(error) },
      'Processing an import failed; the reconciler enqueues it again.',
    )
  } finally {
    free()
  }
  return 'done'
}

/** Reclaims batches whose claims have expired, and enqueues the imports that could be worked on and that nobody works on. */
export async function reconcileImports(
  context: Pick<JobContext, 'pool' | 'log' | 'accounts'>,
  queue: ImportQueue,
): Promise<void> {
  const reclaimed = await reclaimExpired(context.pool)
  if (reclaimed > 0)
    context.log.warn(
      { batches: reclaimed },
      'Claims of batches had expired; the outcome of these batches is uncertain.',
    )
  await enqueueWaiting(context, queue)
}

/** While all workers are busy wake-ups would pile up: as many as there are imports waiting are enough. */
async function enqueueWaiting(
  { pool, accounts }: Pick<JobContext, 'pool' | 'accounts'>,
  queue: ImportQueue,
): Promise<void> {
  const waiting = await listWaitingImports(pool, [...accounts.keys()])
  if (waiting.length === 0) return
  const enqueued = await queue.getWaitingCount()
  if (enqueued === null || enqueued >= waiting.length) return
  for (const id of waiting) await enqueueImport(queue, id)
}
