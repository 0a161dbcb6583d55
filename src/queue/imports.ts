import type { WorkEnd } from '#src/imports/work.ts'
import { reasonOf } from '#src/model/reason.ts'
import { findImport } from '#src/store/imports/start.ts'
import { listWaitingImports, settleLostClaims } from '#src/store/imports/waiting.ts'
import { isPassing } from '#src/store/patience.ts'
import type { Answer } from './answer.ts'
import type { QueueBackend } from './backend.ts'
import type { Hands } from './hands.ts'
import type { ImportBell, ImportJob, JobContext } from './job.ts'
import type { Producer } from './producer.ts'

/*
 * Bells for imports. Each says "look at this import": whether there is anything to do, and whether it is this worker's
 * turn, is for Postgres to say.
 *
 *     confirmed, resumed ──► bell ──► a spell of work ──► bells for whatever waits then
 *     reconciler ────────────▲
 */

/** What the bells for imports are answered with. */
export type ImportDesk = {
  readonly queue: ImportQueue
  readonly hands: Hands
  /** Is told how each spell of work ended. */
  readonly report: (importId: bigint, end: WorkEnd) => Promise<void>
}

export type ImportQueue = Pick<Producer<ImportBell>, 'add' | 'getWaitingCount'>

/** Several workers find the same import waiting at about the same time: one bell is enough then. */
const ONE_BELL_MS = 1_000

/** Has a worker look at an import; false if the queue is out of reach: then a worker finds the import by itself soon. */
export async function ringImport(backend: QueueBackend, importId: bigint): Promise<boolean> {
  const queue = backend.openQueue('import')
  try {
    return await ring(queue, importId)
  } finally {
    await queue.close()
  }
}

/**
 * Works on the import a bell is about, then rings for those that may go on: this one too if it has only yielded.
 * A fault is logged; the reconciler rings again.
 */
export async function answerImportBell(
  ferry: JobContext,
  { queue, hands, report }: ImportDesk,
  job: ImportJob,
  bell: ImportBell,
  signals: { readonly signal: AbortSignal; readonly cutOff: AbortSignal },
): Promise<Answer> {
  const importId = BigInt(bell.import)
  const head = await findImport(ferry.pool, importId)
  const free = head && hands.take(head.account)
  if (!free) return 'nothing to do'
  try {
    const end = await job.work(ferry, importId, signals)
    if (head.status === 'queued' || head.status === 'running') await report(importId, end)
    if (end === 'stopped') return 'given back'
    if (end === 'busy' || end === 'waiting') return 'nothing to do'
    await ringWaiting(ferry, queue)
    return end === 'yielded' ? 'later' : 'done'
  } catch (error) {
    ferry.log[isPassing(error) ? 'debug' : 'error'](
      { import: importId, error: reasonOf(error) },
      'the work on an import broke',
    )
    return 'later'
  } finally {
    free()
  }
}

/** Ends what dead workers left in flight, and rings for what could be worked on and nobody is at. */
export async function reconcileImports(ferry: JobContext, queue: ImportQueue): Promise<void> {
  const settled = await settleLostClaims(ferry.pool)
  if (settled > 0) ferry.log.warn({ batches: settled }, 'batches of imports were in flight with lost workers')
  await ringWaiting(ferry, queue)
}

/** While all hands are busy bells would pile up: as many as there are imports waiting are enough. */
async function ringWaiting(ferry: JobContext, queue: ImportQueue): Promise<void> {
  const waiting = await listWaitingImports(ferry.pool, [...ferry.accounts.keys()])
  if (waiting.length === 0) return
  const there = await queue.getWaitingCount()
  if (there === null || there >= waiting.length) return
  for (const id of waiting) await ring(queue, id)
}

/** A fresh id every second: a dead worker's job may block its id for a minute. */
function ring(queue: ImportQueue, importId: bigint): Promise<boolean> {
  const moment = Math.floor(Date.now() / ONE_BELL_MS)
  return queue.add('import-subscribers', { import: `${importId}` }, `import/${importId}/${moment}`)
}
