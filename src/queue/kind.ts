import type { Processor, Queue, Worker } from 'bullmq'
import type { QueueName } from './messages.ts'
import type { Outage } from './outage.ts'

/*
 * The parts of BullMQ that Ferry uses, whether the queue is in Redis or in Postgres.
 */

export type QueueKind = {
  openQueue(name: QueueName): AnyQueue
  /** A worker that is not ready yet, and does not run. It processes `concurrency` wake-ups at once. */
  openWorker(
    name: QueueName,
    process: WakeUpProcessor<unknown>,
    concurrency: number,
    outage: Outage,
  ): QueueWorker & ErrorSource
}

export type AnyQueue = Pick<
  Queue<unknown, void, string>,
  'add' | 'getJobSchedulers' | 'getWaitingCount' | 'obliterate' | 'removeJobScheduler' | 'waitUntilReady'
> &
  ErrorSource & { getBackend(): { close(force: boolean): Promise<void> } }

export type QueueWorker = Pick<Worker<unknown, void, string>, 'close' | 'pause' | 'run' | 'waitUntilReady'>

export type WakeUpProcessor<WakeUp> = Processor<WakeUp, void, string>

export type ErrorSource = { on(event: 'error', listener: (error: Error) => void): unknown }

/** Ferry reads no events of a queue; BullMQ would keep 10,000. */
export const FEW_EVENTS = { events: { maxLen: 100 } }

/** BullMQ's own pause after a connection was refused, besides the one of `withBackOff`. */
export const RUN_RETRY_MS = 1_000

/** A connection that does not answer for this long is dead: longer than BullMQ ever waits for a job. */
export const SILENT_MS = 20_000

/** A job that stands for nothing: it shows that jobs can be added. Workers ignore it. */
export const CHECK = 'check'

/** Closes a queue without waiting for an answer. */
export async function leaveQueue(queue: AnyQueue): Promise<void> {
  await queue
    .getBackend()
    .close(true)
    .catch(() => {})
}
