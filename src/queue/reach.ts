import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import { migrateQueue } from './backend.ts'
import { type CheckSettings, checkQueue, withQueue } from './check.ts'
import { QueueRefused } from './refused.ts'

const TRY_EVERY_MS = 1_000

/**
 * Brings the queue's tables up to date and returns what `checkQueue` found, once the queue can be used; at the latest
 * after `retryForMs`, so that a server may still be starting. Throws `QueueRefused`, at once where waiting is no use.
 */
export async function reachQueue(
  settings: CheckSettings,
  { retryForMs, signal, log }: { retryForMs: number; signal: AbortSignal; log: Logger },
): Promise<string> {
  const giveUpAtMs = performance.now() + retryForMs
  let isReported = false
  for (;;) {
    signal.throwIfAborted()
    try {
      await migrateQueue(settings)
      const found = await checkQueue(settings)
      await forgetSchedulers(settings)
      return found
    } catch (error) {
      const mayPass = error instanceof QueueRefused ? error.mayPass : isTransient(error)
      if (!mayPass || performance.now() > giveUpAtMs) throw error
      if (!isReported) log.info({ error: reasonOf(error) }, 'Waiting for the queue.')
      isReported = true
    }
    await delay(TRY_EVERY_MS, undefined, { signal })
  }
}

/** Earlier versions kept their schedules in the queue. */
async function forgetSchedulers({ installation, ...settings }: CheckSettings): Promise<void> {
  if (installation === null) return
  await withQueue({ ...settings, installation }, 'sync', async queue => {
    for (const { key } of await queue.getJobSchedulers()) await queue.removeJobScheduler(key)
  })
}
