import { setTimeout as delay } from 'node:timers/promises'
import type { ImportContext } from '#src/imports/context.ts'
import { loadProgress, loadSummary, NO_WORKER, type Progress } from '#src/imports/progress.ts'
import { workImport } from '#src/imports/work.ts'
import type { ImportStatus, ImportSummary } from '#src/model/import.ts'
import { patiently } from '#src/store/patience.ts'
import { UsageError } from '../errors.ts'
import { printAside } from '../output.ts'
import type { View } from './view.ts'

/** A person sees a second as now; a look costs a few small queries. */
const LOOK_EVERY_MS = 1_000

const GOING_ON: readonly ImportStatus[] = ['queued', 'running']

/** Shows how an import goes on until it rests or `signal` aborts; returns the last look. Throws `ImportNotFound`. */
export async function followImport(
  ferry: ImportContext,
  id: bigint,
  view: View,
  signal: AbortSignal,
): Promise<Progress> {
  try {
    for (;;) {
      const progress = await look(ferry, id)
      view.show(progress)
      if (signal.aborted || !GOING_ON.includes(progress.summary.status)) return progress
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    view.end()
  }
}

/** A database that is restarted meanwhile is no reason to look away. */
function look(ferry: ImportContext, id: bigint): Promise<Progress> {
  return patiently(async () => {
    const { account } = await loadSummary(ferry.pool, id)
    return loadProgress(ferry.pool, id, ferry.accounts.get(account)?.importLimit ?? null)
  })
}

/**
 * Does the work of an import in this process, and shows how it goes on, until it rests; returns how it stands then.
 * While a worker is at it, or another import goes first, this only watches, and takes over once it can.
 *
 * When `signal` aborts it begins no further call and waits for those in flight.
 */
export async function workHere(
  ferry: ImportContext,
  id: bigint,
  view: View,
  signal: AbortSignal,
): Promise<Progress> {
  expectAccount(ferry, await loadSummary(ferry.pool, id))
  const over = new AbortController()
  const onAbort = () => {
    view.end()
    printAside('ferry: finishing the calls in flight; a second Ctrl-C ends it at once')
  }
  signal.addEventListener('abort', onAbort, { once: true })
  // Whether it can be shown or not, the work goes on.
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

/** Throws `UsageError` unless the account of an import is configured: without it nothing of it can be sent here. */
export function expectAccount({ accounts }: ImportContext, { import: id, account }: ImportSummary): void {
  if (accounts.has(account)) return
  throw new UsageError(
    `import ${id} is of account ${account}, which is not configured here; there are: ${[...accounts.keys()].join(', ')}`,
  )
}

/** The view of one who is about to do the work: between two attempts no worker is at it, and none is needed. */
function asWorker(view: View): View {
  return {
    ...view,
    show: progress =>
      view.show(progress.whyWaiting === NO_WORKER ? { ...progress, whyWaiting: null } : progress),
  }
}

async function workToTheEnd(ferry: ImportContext, id: bigint, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const end = await workImport(ferry, id, { signal })
    if (end === 'busy' || end === 'waiting') {
      const { status } = await loadSummary(ferry.pool, id)
      if (!GOING_ON.includes(status)) return
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    } else if (end !== 'yielded') {
      return
    }
  }
}
