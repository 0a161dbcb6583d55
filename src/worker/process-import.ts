import type { Job, JobContext, JobSignals } from '#jobs/job.ts'
import { loadSummaryRow } from '#src/imports/reporting/summary.ts'
import { stepsOf } from '#src/imports/reporting/waits-for.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import { listWaitingImports } from '#src/imports/sending/waiting-imports.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { counted } from '#src/model/counted.ts'
import { isActive } from '#src/model/import.ts'
import { stepsInWords } from '#src/model/next-step.ts'
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
}

export type ImportQueue = Pick<Producer<ImportWakeUp>, 'add' | 'getWaitingCount'>

/**
 * Works on the import that a wake-up names, then enqueues those that may go on: this one too if it has only yielded.
 * Postgres decides whether there is anything to do, and whether it is this worker's turn. A fault is logged; the
 * reconciler enqueues the import again.
 *
 *     confirmed, resumed ──► wake-up ──► a pass of work ──► wake-ups for those that wait then
 *     reconciler ──────────────▲
 */
export async function processImport(
  { context, jobs, queue, capacity }: ImportProcessor,
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
    // Another import that is enqueued finds room: without it, its wake-up would be dropped and this import taken again.
    const { status } = await job.run(context, wakeUp, signals).finally(free)
    const wasActive = isActive(head.status)
    if (wasActive && (status === 'succeeded' || status === 'held')) await logImportEnd(context, importId)
    if (status === 'stopped') return 'given back'
    if (status !== 'skipped') await enqueueWaiting(context, queue)
  } catch (error) {
    context.log[isTransient(error) ? 'debug' : 'error'](
      { import: importId, error: reasonOf(error) },
      'Processing an import failed; the reconciler enqueues it again.',
    )
  }
  return 'done'
}

/** Reclaims batches whose claims have expired, and enqueues the imports that wait for a worker. Returns these. */
export async function reconcileImports(
  context: Pick<JobContext, 'pool' | 'log' | 'accounts'>,
  queue: ImportQueue,
): Promise<readonly bigint[]> {
  const reclaimed = await reclaimExpired(context.pool)
  if (reclaimed > 0)
    context.log.warn(
      { batches: reclaimed },
      'Claims on batches have expired; the outcome of these batches is unknown.',
    )
  return enqueueWaiting(context, queue)
}

/**
 * Enqueues one wake-up for each waiting import at most: while all workers are busy, they would pile up. Returns the imports
 * that wait.
 */
async function enqueueWaiting(
  { pool, accounts }: Pick<JobContext, 'pool' | 'accounts'>,
  queue: ImportQueue,
): Promise<readonly bigint[]> {
  const waiting = await listWaitingImports(pool, [...accounts.keys()])
  if (waiting.length === 0) return waiting
  const enqueued = await queue.getWaitingCount()
  if (enqueued === null || enqueued >= waiting.length) return waiting
  for (const id of waiting) await enqueueImport(queue, id)
  return waiting
}

/** Logs how the work on an import ended, if it has. */
export async function logImportEnd(
  { pool, log }: Pick<JobContext, 'pool' | 'log'>,
  importId: bigint,
): Promise<void> {
  const row = await loadSummaryRow(pool, importId)
  if (!row) return
  const { account, status, read, sent, rejected, uncertain, pending } = row
  const counts = {
    import: row.id,
    account,
    page: row.pageId,
    status,
    read,
    sent,
    rejected,
    uncertain,
    pending,
  }
  switch (status) {
    case 'paused': {
      const { pauseCode: code, pauseRequestId: requestId } = row
      const words = [row.pauseMessage, row.pauseWhatToDo].filter(Boolean).join(' ')
      return log.warn(
        { ...counts, ...(code && { errorCode: code }), ...(requestId && { requestId }) },
        `An import is paused. ${words} \`ferry imports show ${row.id}\` says what to do.`,
      )
    }
    case 'undecided':
      return log.warn(
        counts,
        `An import waits for a decision about ${counted(uncertain, 'row')}: \`ferry imports show ${row.id}\` lists its batches. ${stepsInWords(stepsOf(row))}`,
      )
    case 'completed':
      return log.info(counts, 'An import is completed.')
    case 'cancelled':
      return log.info(counts, 'An import was cancelled.')
  }
}
