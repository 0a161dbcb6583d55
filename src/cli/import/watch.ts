import { setTimeout as delay } from 'node:timers/promises'
import type { ImportContext } from '#src/imports/context.ts'
import { loadProgress, loadSummary, type Progress } from '#src/imports/progress.ts'
import { workImport } from '#src/imports/work.ts'
import type { ImportStatus } from '#src/model/import.ts'
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
  const { account } = await loadSummary(ferry.pool, id)
  const limit = ferry.accounts.get(account)?.importLimit ?? null
  try {
    for (;;) {
      const progress = await loadProgress(ferry.pool, id, limit)
      view.show(progress)
      if (signal.aborted || !GOING_ON.includes(progress.summary.status)) return progress
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => {})
    }
  } finally {
    view.end()
  }
}

/**
 * Does the work of an import in this process, and shows how it goes on, until it rests. While a worker is at it, or
 * another import goes first, this only watches, and takes over once it can.
 *
 * When `signal` aborts it begins no further call and waits for those in flight.
 */
export async function workHere(
  ferry: ImportContext,
  id: bigint,
  view: View,
  signal: AbortSignal,
): Promise<Progress> {
  const over = new AbortController()
  const following = followImport(ferry, id, view, over.signal)
  const working = workToTheEnd(ferry, id, signal).finally(() => over.abort())
  const [progress] = await Promise.all([following, working])
  return progress
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
