import { setTimeout as delay } from 'node:timers/promises'
import type { BackendFactory, IQueueBackend } from 'bullmq'
import { backOffMs, type Outage } from './outage.ts'

/** A notification that is lost with its connection should not cost more: then the backend looks whether there is a job. */
const MAX_BLOCK_S = 5

/**
 * Returns the same backend for a worker, with a pause after each failure. BullMQ itself calls again at once, thousands of
 * times a second, if Redis answers with an error.
 */
export function withBackOff<B extends IQueueBackend, C>(
  create: BackendFactory<B, C>,
  outage: Outage,
): BackendFactory<B, C> {
  return (name, options, more) => {
    const backend = create(name, options, more)
    const closing = new AbortController()
    const withPause = <A extends unknown[], T>(what: string, call: (...args: A) => Promise<T>) => {
      let failures = 0
      return async (...args: A): Promise<T> => {
        try {
          const answer = await call.apply(backend, args)
          failures = 0
          outage.ends(what)
          return answer
        } catch (error) {
          outage.begins(what, error)
          failures += 1
          await delay(backOffMs(failures), undefined, { signal: closing.signal }).catch(() => {})
          throw error
        }
      }
    }
    const waitForJob = backend.waitForJob.bind(backend)
    const disconnectBlocking = backend.disconnectBlocking.bind(backend)
    backend.moveToActive = withPause(`${name}: fetch`, backend.moveToActive)
    backend.waitForJob = withPause(`${name}: wait`, async seconds => {
      for (let left = seconds; ; left -= MAX_BLOCK_S) {
        const found = await waitForJob(Math.min(left, MAX_BLOCK_S))
        if (found || left <= MAX_BLOCK_S || closing.signal.aborted) return found
      }
    })
    backend.disconnectBlocking = wait => {
      closing.abort()
      return disconnectBlocking(wait)
    }
    return backend
  }
}
