import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { type Backfill, findUnfinished, runBackfill } from '#src/db/backfill.ts'
import { acquireLease } from '#src/db/leases.ts'
import { Loop } from './loop.ts'

/** Those of this release, in the order in which they run. CONTRIBUTING.md, "A migration runs beside workers". */
export const BACKFILLS: readonly Backfill[] = []

export type BackfillContext = { readonly pool: Pool; readonly log: Logger; readonly holder: string }

/** Another worker may have the lease, and die. */
const LOOK_EVERY_MS = 60_000

/** Runs backfills, in one worker at a time, until all have ended or it is disposed of. */
export function openBackfills(
  { pool, log, holder }: BackfillContext,
  backfills: readonly Backfill[] = BACKFILLS,
): AsyncDisposable {
  const stopping = new AbortController()
  let isDone = backfills.length === 0

  async function look(): Promise<number> {
    if (isDone) return LOOK_EVERY_MS
    const lease = await acquireLease(pool, 'backfills', holder, log)
    if ('heldBy' in lease) return LOOK_EVERY_MS
    try {
      for (const backfill of await findUnfinished(pool, backfills)) {
        await runBackfill(pool, lease, backfill, stopping.signal)
        log.info({ backfill: backfill.name }, 'A backfill has ended.')
      }
      isDone = true
    } catch (error) {
      if (!stopping.signal.aborted) throw error
    } finally {
      await lease.release()
    }
    return LOOK_EVERY_MS
  }

  const loop = new Loop('backfill', LOOK_EVERY_MS, look, log)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('draining'))
      await loop.stop()
    },
  }
}
