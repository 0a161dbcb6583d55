import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobsOptions, Queue } from 'bullmq'
import { backOffMs, type Outage } from './outage.ts'

/** Puts messages into one queue. None of it throws while the queue is away: what is due stands in Postgres. */
export type Producer<Payload> = {
  /** False if the queue did not take it. A job with the id of one that is there is not added again. */
  add(name: string, payload: Payload, jobId?: string): Promise<boolean>
  /** Null if the queue does not say. */
  getWaitingCount(): Promise<number | null>
  /** After a failure, tries whether the queue takes jobs again. */
  lookAgain(): Promise<void>
  close(): Promise<void>
}

/** A job that stands for nothing: it shows that jobs can be added. Workers leave it alone. */
export const CHECK = 'check'

/** A job that is done leaves nothing behind. */
const LEAVE_NOTHING = { removeOnComplete: true, removeOnFail: true }

/** A question that is not answered by then is given up, together with its connection, which may be dead. */
const ANSWER_WITHIN_MS = 10_000

/** What Ferry uses of BullMQ's queue, whichever backend it has. */
export type AnyQueue = Pick<
  Queue<unknown, void, string>,
  'add' | 'getJobSchedulers' | 'getWaitingCount' | 'obliterate' | 'removeJobScheduler' | 'waitUntilReady'
> & {
  getBackend(): { close(force: boolean): Promise<void> }
  on(event: 'error', listener: (error: Error) => void): unknown
}

/**
 * Opens a queue when it is first needed, and another in its place after any failure: BullMQ remembers for ever that its
 * first connection was refused. After a failure nothing is asked for a while, however much is due.
 */
export function openProducer<Payload>(
  name: string,
  open: () => AnyQueue,
  outage: Outage,
  answerWithinMs = ANSWER_WITHIN_MS,
): Producer<Payload> {
  const what = `${name}: add`
  let current: AnyQueue | null = null
  let failures = 0
  let restsUntilMs = Number.NEGATIVE_INFINITY

  async function ask<T>(work: (queue: AnyQueue) => Promise<T>): Promise<T | null> {
    if (performance.now() < restsUntilMs) return null
    current ??= open()
    const queue = current
    const timeUp = new AbortController()
    const late = delay(answerWithinMs, undefined, { signal: timeUp.signal }).then(() => {
      throw new Error(`the queue did not answer within ${answerWithinMs / 1_000} s`)
    })
    try {
      const answer = await Promise.race([queue.waitUntilReady().then(() => work(queue)), late])
      failures = 0
      return answer
    } catch (error) {
      outage.begins(what, error)
      failures += 1
      restsUntilMs = performance.now() + backOffMs(failures)
      if (current === queue) current = null
      void leave(queue)
      return null
    } finally {
      timeUp.abort()
      late.catch(() => {})
    }
  }

  async function add(jobName: string, payload: unknown, options: JobsOptions): Promise<boolean> {
    const added = await ask(async queue => {
      await queue.add(jobName, payload, { ...LEAVE_NOTHING, ...options })
      return true
    })
    if (added) outage.ends(what)
    return added ?? false
  }

  return {
    add: (jobName, payload, jobId) => add(jobName, payload, jobId === undefined ? {} : { jobId }),
    getWaitingCount: () => ask(queue => queue.getWaitingCount()),
    async lookAgain() {
      if (outage.lasts(what)) await add(CHECK, {}, { jobId: `${CHECK}-${randomUUID()}` })
    },
    async close() {
      const queue = current
      current = null
      if (queue) await leave(queue)
    },
  }
}

/** By force, which waits for no answer. */
async function leave(queue: AnyQueue): Promise<void> {
  await queue
    .getBackend()
    .close(true)
    .catch(() => {})
}
