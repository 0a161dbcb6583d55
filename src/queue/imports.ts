import { reasonOf } from '#src/model/reason.ts'
import { listWaitingImports, settleLostClaims } from '#src/store/imports/waiting.ts'
import type { Answer } from './answer.ts'
import type { BellQueue, QueueBackend } from './backend.ts'
import type { ImportBell, ImportJob, JobContext } from './job.ts'
import { within } from './within.ts'

/*
 * Bells for imports. Each says "look at this import": whether there is anything to do, and whether it is this worker's
 * turn, is for Postgres to say.
 *
 *     confirmed, resumed ──► bell ──► a spell of work ──► bells for whatever waits then
 *     reconciler ────────────▲
 */

export type ImportQueue = Pick<BellQueue<ImportBell>, 'add'>

/** Several workers find the same import waiting at about the same time: one bell is enough then. */
const ONE_BELL_MS = 1_000

/** A queue never reached yet would be waited for for ever. */
const RING_MS = 3_000

/** Has a worker look at an import; false if the queue is out of reach: then a worker finds the import by itself soon. */
export async function ringImport(backend: QueueBackend, importId: bigint): Promise<boolean> {
  const queue = backend.openQueue('import')
  try {
    return await within(RING_MS, ring(queue, importId))
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
  queue: ImportQueue,
  job: ImportJob,
  bell: ImportBell,
  signals: { readonly signal: AbortSignal; readonly cutOff: AbortSignal },
): Promise<Answer> {
  const importId = BigInt(bell.import)
  try {
    const end = await job.work(ferry, importId, signals)
    if (end === 'stopped') return 'given back'
    if (end === 'busy' || end === 'waiting') return 'nothing to do'
    await ringWaiting(ferry, queue)
    return end === 'yielded' ? 'later' : 'done'
  } catch (error) {
    ferry.log.error({ import: importId, error: reasonOf(error) }, 'the work on an import broke')
    return 'later'
  }
}

/** Ends what dead workers left in flight, and rings for what could be worked on and nobody is at. */
export async function reconcileImports(ferry: JobContext, queue: ImportQueue): Promise<void> {
  const settled = await settleLostClaims(ferry.pool)
  if (settled > 0) ferry.log.warn({ batches: settled }, 'batches of imports were in flight with lost workers')
  await ringWaiting(ferry, queue)
}

async function ringWaiting(ferry: JobContext, queue: ImportQueue): Promise<void> {
  for (const id of await listWaitingImports(ferry.pool, [...ferry.accounts.keys()])) await ring(queue, id)
}

/** A fresh id each time: a dead worker's job may block its id for a minute. */
async function ring(queue: ImportQueue, importId: bigint): Promise<void> {
  await queue.add(
    'import-subscribers',
    { import: `${importId}` },
    {
      removeOnComplete: true,
      removeOnFail: true,
      deduplication: { id: `import/${importId}`, ttl: ONE_BELL_MS },
    },
  )
}
