import { randomUUID } from 'node:crypto'
import type { JobsOptions } from 'bullmq'
import { within } from '#src/model/within.ts'
import { type AnyQueue, CHECK, leaveQueue } from './kind.ts'
import { backOffMs, type Outage } from './outage.ts'

/** A job that is done is removed from the queue. */
const LEAVE_NOTHING = { removeOnComplete: true, removeOnFail: true }

/** A call that is not answered by then is given up, together with its connection, which may be dead. */
const ANSWER_WITHIN_MS = 10_000

/**
 * Puts wake-ups into one queue. Throws nothing while the queue does not answer: what is due is in Postgres.
 *
 * Opens the queue when it is first needed, and another in its place after any failure: BullMQ remembers for ever that its
 * first connection was refused. After a failure the queue is not called for a while, however much is due.
 */
export class Producer<WakeUp> {
  readonly #what: string
  readonly #open: () => AnyQueue
  readonly #outage: Outage
  readonly #answerWithinMs: number
  #queue: AnyQueue | null = null
  /** In a row. */
  #failures = 0
  #restsUntilMs = Number.NEGATIVE_INFINITY

  constructor(name: string, open: () => AnyQueue, outage: Outage, answerWithinMs = ANSWER_WITHIN_MS) {
    this.#what = `${name}: add`
    this.#open = open
    this.#outage = outage
    this.#answerWithinMs = answerWithinMs
  }

  /** False if the queue did not take it. A job with the id of one that is there is not added again. */
  add(name: string, wakeUp: WakeUp, jobId?: string): Promise<boolean> {
    return this.#add(name, wakeUp, jobId === undefined ? {} : { jobId })
  }

  /** Null if the queue does not answer. */
  getWaitingCount(): Promise<number | null> {
    return this.#ask(queue => queue.getWaitingCount())
  }

  /** After a failure, tries whether the queue takes jobs again. */
  async lookAgain(): Promise<void> {
    if (this.#outage.lasts(this.#what)) await this.#add(CHECK, {}, { jobId: `${CHECK}-${randomUUID()}` })
  }

  async close(): Promise<void> {
    const queue = this.#queue
    this.#queue = null
    if (queue) await leaveQueue(queue)
  }

  async #add(name: string, wakeUp: unknown, options: JobsOptions): Promise<boolean> {
    const added = await this.#ask(async queue => {
      await queue.add(name, wakeUp, { ...LEAVE_NOTHING, ...options })
      return true
    })
    if (added) this.#outage.ends(this.#what)
    return added ?? false
  }

  async #ask<T>(work: (queue: AnyQueue) => Promise<T>): Promise<T | null> {
    if (performance.now() < this.#restsUntilMs) return null
    this.#queue ??= this.#open()
    const queue = this.#queue
    try {
      const asked = queue.waitUntilReady().then(() => work(queue))
      const answer = await within(this.#answerWithinMs, asked, () => {
        return new Error(`the queue did not answer within ${this.#answerWithinMs / 1_000} s`)
      })
      this.#failures = 0
      return answer
    } catch (error) {
      this.#outage.begins(this.#what, error)
      this.#failures += 1
      this.#restsUntilMs = performance.now() + backOffMs(this.#failures)
      if (this.#queue === queue) this.#queue = null
      void leaveQueue(queue)
      return null
    }
  }
}
