import { setTimeout as delay } from 'node:timers/promises'
import { type Job as QueueJob, WaitingError } from 'bullmq'
import type { Answer } from './answer.ts'
import type { Answerer, BellWorker } from './backend.ts'
import { backOffMs, type Outage } from './outage.ts'
import { CHECK } from './producer.ts'
import { within } from './within.ts'

/** Where the bells of one queue are answered. */
export type Desk = {
  readonly underWay: ReadonlySet<Promise<void>>
  /** Takes no new bells; those that come all the same are given back. Resolves once none is answered any more. */
  stop(): Promise<void>
  /** Aborts what is under way. */
  abort(): void
  /** Leaves the queue, even one that is out of reach. */
  close(): Promise<void>
}

/** The queue is told that a bell is free again; if it does not hear, a reconciler rings for it soon after. */
const GIVE_BACK_MS = 1_000
/** Long for a queue that has just been checked; one that went away since is waited for without end. */
const READY_MS = 5_000
const CLOSE_MS = 1_000

/**
 * Begins to answer the bells of a queue.
 *
 *     open ──► ready ──► run ──► stopped
 *      ▲ after a pause │ failed
 *      └───────────────┘
 *
 * BullMQ remembers for ever that its first connection was refused, so a worker that does not become ready is closed and
 * another takes its place.
 *
 * A bell whose lock in the queue is lost (the queue was wiped, this process stood still) is no reason to stop: another
 * worker that gets it finds the work taken. What stops the work is the loss of its hold or lease in Postgres.
 */
export async function openDesk<Payload>(
  what: string,
  open: (answer: Answerer<Payload>) => BellWorker,
  answer: (bell: QueueJob<Payload>, stop: AbortSignal) => Promise<Answer>,
  outage: Outage,
): Promise<Desk> {
  const stopping = new AbortController()
  const underWay = new Set<Promise<void>>()
  const isReady = Promise.withResolvers<void>()
  let worker = openNext()
  const working = workUntilStopped()
  await within(READY_MS, isReady.promise)

  function openNext(): BellWorker {
    return open(async (bell, token, abort) => {
      const answering = answerOrGiveBack(bell, token, abort)
      underWay.add(answering)
      await answering.finally(() => underWay.delete(answering))
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

  async function answerOrGiveBack(
    bell: QueueJob<Payload>,
    token?: string,
    abort?: AbortSignal,
  ): Promise<void> {
    if (!abort) throw new Error('BullMQ passes a signal only to a function with three parameters')
    if (bell.name === CHECK) return
    const isStopped = () => stopping.signal.aborted
    const answered = isStopped() ? 'given back' : await answer(bell, abort)
    if (answered !== 'given back' || !isStopped()) return
    await within(GIVE_BACK_MS, bell.moveToWait(token))
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
