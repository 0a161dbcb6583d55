import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { JobsOptions } from 'bullmq'
import { type AnyQueue, CHECK, leaveQueue } from './kind.ts'
import { backOffMs, type Outage } from './outage.ts'

/** Puts wake-ups into one queue. Throws nothing while the queue does not answer: what is due is in Postgres. */
export type Producer<WakeUp> = {
  /** False if the queue did not take it. A job with the id of one that is there is not added again. */
  add(name: string, wakeUp: WakeUp, jobId?: string): Promise<boolean>
  /** Null if the queue does not answer. */
  getWaitingCount(): Promise<number | null>
  /** After a failure, tries whether the queue takes jobs again. */
  lookAgain(): Promise<void>
  close(): Promise<void>
}

/** A job that is done is removed from the queue. */
const LEAVE_NOTHING = { removeOnComplete: true, removeOnFail: true }

/** A call that is not answered by then is given up, together with its connection, which may be dead. */
const ANSWER_WITHIN_MS = 10_000

/**
 * Opens a queue when it is first needed, and another in its place after any failure: BullMQ remembers for ever that its
 * first connection was refused. After a failure the queue is not called for a while, however much is due.
 */
export function openProducer<WakeUp>(
  name: string,
  open: () => AnyQueue,
  outage: Outage,
  answerWithinMs = ANSWER_WITHIN_MS,
): Producer<WakeUp> {
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
      void leaveQueue(queue)
      return null
    } finally {
      timeUp.abort()
      late.catch(() => {})
    }
  }

  async function add(jobName: string, wakeUp: unknown, options: JobsOptions): Promise<boolean> {
    const added = await ask(async queue => {
      await queue.add(jobName, wakeUp, { ...LEAVE_NOTHING, ...options })
      return true
    })
    if (added) outage.ends(what)
    return added ?? false
  }

  return {
    add: (jobName, wakeUp, jobId) => add(jobName, wakeUp, jobId === undefined ? {} : { jobId }),
    getWaitingCount: () => ask(queue => queue.getWaitingCount()),
    async lookAgain() {
      if (outage.lasts(what)) await add(CHECK, {}, { jobId: `${CHECK}-${randomUUID()}` })
    },
    async close() {
      const queue = current
      current = null
      if (queue) await leaveQueue(queue)
    },
  }
}
