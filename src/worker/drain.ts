import type { Logger } from 'pino'
import type { Consumer } from '#src/queue/consumer.ts'
import { within } from '#src/queue/within.ts'

/**
 * Stops the consumers and a timer within `deadlineMs`: five sixths of it for what is under way to end, then a twelfth for
 * what is cut off, and a twelfth for the queue to answer.
 */
export async function drain(
  consumers: readonly Consumer[],
  timer: { stop(): Promise<void> } | null,
  deadlineMs: number,
  log: Logger,
): Promise<void> {
  const stopped = [...consumers.map(consumer => consumer.stop()), timer?.stop()]
  const underWay = () => consumers.flatMap(consumer => [...consumer.underWay])
  if (!(await within((deadlineMs * 10) / 12, settled(underWay)))) {
    log.warn({ jobs: underWay().length }, 'What is still under way is cut off and given back.')
    for (const consumer of consumers) consumer.abort()
    await within(deadlineMs / 12, settled(underWay))
  }
  // BullMQ would wait without end for a Redis that does not answer, here and in a close that is not forced.
  if (!(await within(deadlineMs / 12, Promise.all(stopped)))) {
    const seconds = (deadlineMs / 12_000).toFixed(1)
    log.warn(`The queue did not answer within ${seconds} s; exiting without closing it.`)
  }
  await Promise.all(consumers.map(consumer => consumer.close()))
}

async function settled(underWay: () => readonly Promise<unknown>[]): Promise<void> {
  while (underWay().length > 0) await Promise.allSettled(underWay())
}
