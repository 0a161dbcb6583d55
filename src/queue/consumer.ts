import { setTimeout as delay } from 'node:timers/promises'
import { type Job as QueueJob, WaitingError } from 'bullmq'
import { CHECK, type QueueWorker, type WakeUpProcessor } from './kind.ts'
import { backOffMs, type Outage } from './outage.ts'
import { within } from './within.ts'

/** Processes the wake-ups of one queue. */
export type Consumer = {
  readonly underWay: ReadonlySet<Promise<void>>
  /** Takes no new wake-ups; those that come all the same are given back. Resolves once none is being processed. */
  stop(): Promise<void>
  /** Aborts what is under way. */
  abort(): void
  /** Leaves the queue, even one that does not answer. */
  close(): Promise<void>
}

/** What became of a wake-up. `given back`: its work was stopped; another worker is to do it, at once. */
export type Processed = 'done' | 'given back'

/** The queue is told that a wake-up is free again; if it does not hear, a reconciler enqueues another soon after. */
const GIVE_BACK_MS = 1_000
/** Long for a queue that has just been checked; one that failed since is waited for without end. */
const READY_MS = 5_000
const CLOSE_MS = 1_000

/**
 * Begins to process the wake-ups of a queue.
 *
 *     open ──► ready ──► run ──► stopped
 *      ▲ after a pause │ failed
 *      └───────────────┘
 *
 * BullMQ remembers for ever that its first connection was refused, so a worker that does not become ready is closed and
 * another takes its place.
 *
 * A wake-up whose lock in the queue is lost (the queue was wiped, this process was suspended) is no reason to stop:
 * another worker that gets it finds the work taken. What stops the work is the loss of its lease in Postgres.
 */
export async function openConsumer<WakeUp>(
  what: string,
  open: (process: WakeUpProcessor<WakeUp>) => QueueWorker,
  process: (job: QueueJob<WakeUp>, cutOff: AbortSignal) => Promise<Processed>,
  outage: Outage,
): Promise<Consumer> {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const isReady = Promise.withResolvers<void>()
  let worker = openNext()
  const working = workUntilStopped()
  await within(READY_MS, isReady.promise)

  function openNext(): QueueWorker {
    return open(async (job, token, cutOff) => {
      const processing = processOrGiveBack(job, token, cutOff)
      underWay.add(processing)
      await processing.finally(() => underWay.delete(processing))
    })
  }

  async function workUntilStopped(): Promise<void> {
    for (let failures = 0; !stopping.signal.aborted; ) {
      try {
        await worker.waitUntilReady()
        outage.ends(what)
        isReady.resolve()
        if (!stopping.signal.aborted) await worker.run()
        return
      } catch (error) {
        if (stopping.signal.aborted) return
        outage.begins(what, error)
        failures += 1
        await within(CLOSE_MS, worker.close(true))
        await delay(backOffMs(failures), undefined, { signal: stopping.signal }).catch(() => {})
        if (!stopping.signal.aborted) worker = openNext()
      }
    }
  }

  async function processOrGiveBack(
    job: QueueJob<WakeUp>,
    token?: string,
    cutOff?: AbortSignal,
  ): Promise<void> {
    if (!cutOff) throw new Error('BullMQ passes a signal only to a function with three parameters')
    if (job.name === CHECK) return
    const isStopped = () => stopping.signal.aborted
    const processed = isStopped() ? 'given back' : await process(job, cutOff)
    if (processed !== 'given back' || !isStopped()) return
    await within(GIVE_BACK_MS, job.moveToWait(token))
    throw new WaitingError()
  }

  return {
    underWay,
    async stop() {
      stopping.abort()
      await worker.pause()
    },
    abort: () => worker.cancelAllJobs('draining'),
    async close() {
      await within(CLOSE_MS, worker.close(true))
      await within(CLOSE_MS, working)
    },
  }
}
