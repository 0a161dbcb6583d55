import { type Job as QueueJob, WaitingError } from 'bullmq'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import type { Answer } from './answer.ts'
import type { Answerer, BellWorker } from './backend.ts'
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
/** Long for a queue that has just been checked; one that went away since is waited for by BullMQ. */
const READY_MS = 5_000

/**
 * Begins to answer the bells of a queue.
 *
 * A bell whose lock in the queue is lost (the queue was wiped, this process stood still) is no reason to stop: another
 * worker that gets it finds the work taken. What stops the work is the loss of its hold or lease in Postgres.
 */
export async function openDesk<Payload>(
  open: (answer: Answerer<Payload>) => BellWorker,
  answer: (bell: QueueJob<Payload>, stop: AbortSignal) => Promise<Answer>,
  log: Logger,
): Promise<Desk> {
  let stopped = false
  const underWay = new Set<Promise<void>>()
  const worker = open(async (bell, token, abort) => {
    const answering = answerOrGiveBack(bell, token, abort)
    underWay.add(answering)
    await answering.finally(() => underWay.delete(answering))
  })
  worker.run().catch(error => log.error({ error: reasonOf(error) }, 'the worker broke'))
  // Closed before it is ready, BullMQ would leave a connection behind.
  await within(READY_MS, worker.waitUntilReady())

  async function answerOrGiveBack(
    bell: QueueJob<Payload>,
    token?: string,
    abort?: AbortSignal,
  ): Promise<void> {
    if (!abort) throw new Error('BullMQ passes a signal only to a function with three parameters')
    const answered = stopped ? 'given back' : await answer(bell, abort)
    if (answered !== 'given back' || !stopped) return
    await within(GIVE_BACK_MS, bell.moveToWait(token))
    throw new WaitingError()
  }

  return {
    underWay,
    stop() {
      stopped = true
      return worker.pause()
    },
    abort: () => worker.cancelAllJobs('draining'),
    close: () => worker.close(true),
  }
}
