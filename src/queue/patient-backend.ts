import { setTimeout as delay } from 'node:timers/promises'
import type { BackendFactory, IQueueBackend } from 'bullmq'
import { backOffMs, type Outage } from './outage.ts'

/** However long BullMQ would wait for a job: a notification that is lost with its connection costs so much at most. */
const LONGEST_BLOCK_S = 5

/**
 * The same backend, for a worker: after a failure it rests before the worker may ask again. BullMQ itself asks again at
 * once, thousands of times a second, if Redis answers with an error.
 */
export function withBackOff<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  outage: Outage,
): BackendFactory<B, C> {
  return (name, options, more) => {
    const backend = create(name, options, more)
    const leaving = new AbortController()
    const patient = <A extends unknown[], T>(what: string, ask: (...args: A) => Promise<T>) => {
      let failures = 0
      return async (...args: A): Promise<T> => {
        try {
          const answer = await ask.apply(backend, args)
          failures = 0
          outage.ends(what)
          return answer
        } catch (error) {
          outage.begins(what, error)
          failures += 1
          await delay(backOffMs(failures), undefined, { signal: leaving.signal }).catch(() => {})
          throw error
        }
      }
    }
    const waitForJob = backend.waitForJob.bind(backend)
    const disconnectBlocking = backend.disconnectBlocking.bind(backend)
    backend.moveToActive = patient(`${name}: fetch`, backend.moveToActive)
    backend.waitForJob = patient(`${name}: wait`, seconds => waitForJob(Math.min(seconds, LONGEST_BLOCK_S)))
    backend.disconnectBlocking = wait => {
      leaving.abort()
      return disconnectBlocking(wait)
    }
    return backend
  }
}
