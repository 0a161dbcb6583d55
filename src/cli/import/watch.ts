import { setTimeout as delay } from 'node:timers/promises'
import { retryTransient } from '#src/db/retry.ts'
import type { ImportContext } from '#src/imports/context.ts'
import { NO_WORKER, NO_WORKER_OF_ACCOUNT, WORKER_SOON } from '#src/imports/reporting/pace.ts'
import { loadProgress, type ProgressWithPause } from '#src/imports/reporting/progress.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { isActive } from '#src/model/import.ts'
import { expectConfigured } from '../accounts.ts'
import { printAside } from '../output.ts'
import type { View } from './view.ts'

/** A second seems immediate to a person, and each look costs only a few small queries. */
const LOOK_EVERY_MS = 1_000

/** Shows the progress of an import until it is not active or `signal` aborts. Returns the last state. Throws `ImportNotFound`. */
export async function followImport(
  ferry: ImportContext,
  id: bigint,
  view: View,
  signal: AbortSignal,
): Promise<ProgressWithPause> {
  try {
    for (;;) {
      const progress = await look(ferry, id)
      view.show(progress)
      if (signal.aborted || !isActive(progress.summary.status)) return progress
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    view.end()
  }
}

/** Retries while the database is being restarted. */
function look(ferry: ImportContext, id: bigint): Promise<ProgressWithPause> {
  return retryTransient(async () => {
    const { account } = await loadSummary(ferry.pool, id)
    return loadProgress(ferry.pool, id, ferry.accounts.get(account)?.importLimit ?? null)
  })
}

/**
 * Processes an import in this process and shows its progress, until it is not active. Returns its last state. While a worker is
 * processing it, or another import goes first, it only watches, and continues once it can.
 *
 * When `signal` aborts, it starts no further call and waits for the calls in flight.
 */
export async function workHere(
  ferry: ImportContext,
  id: bigint,
  view: View,
  signal: AbortSignal,
): Promise<ProgressWithPause> {
  expectConfigured(ferry, (await loadSummary(ferry.pool, id)).account, `import ${id}`)
  const over = new AbortController()
  const onAbort = () => {
    view.end()
    printAside('ferry: finishing the calls in flight; a second Ctrl-C exits at once')
  }
  signal.addEventListener('abort', onAbort, { once: true })
  // The work continues even if its progress cannot be shown.
  const followed = Promise.allSettled([followImport(ferry, id, asWorker(view), over.signal)])
  try {
    await workToTheEnd(ferry, id, signal)
  } finally {
    signal.removeEventListener('abort', onAbort)
    over.abort()
    await followed
  }
  return look(ferry, id)
}

/** The view for the process that does the work: between two attempts no worker is processing the import, and none is needed. */
function asWorker(view: View): View {
  return {
    show: progress =>
      view.show(NO_WORKER_NEEDED.has(progress.whyWaiting) ? { ...progress, whyWaiting: null } : progress),
    end: () => view.end(),
  }
}

const NO_WORKER_NEEDED: ReadonlySet<string | null> = new Set([NO_WORKER, NO_WORKER_OF_ACCOUNT, WORKER_SOON])

async function workToTheEnd(ferry: ImportContext, id: bigint, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const end = await workImport(ferry, id, { signal })
    if (end === 'busy' || end === 'waiting') {
      const { status } = await loadSummary(ferry.pool, id)
      if (!isActive(status)) return
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    } else if (end !== 'yielded') {
      return
    }
  }
}
