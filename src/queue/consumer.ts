import { setTimeout as delay } from 'node:timers/promises'
import { type Job as QueueJob, WaitingError } from 'bullmq'
import { succeedsWithin } from '#src/model/within.ts'
import { CHECK, type QueueWorker, type WakeUpProcessor } from './kind.ts'
import { backOffMs, type Outage } from './outage.ts'

/** The outcome of a wake-up. `given back`: its work was stopped; another worker does it, at once. */
export type Processed = 'done' | 'given back'

export type ConsumerOptions<WakeUp> = {
  /** Names its connection in the log. */
  readonly what: string
  readonly open: (process: WakeUpProcessor<WakeUp>) => QueueWorker
  readonly process: (job: Pick<QueueJob<WakeUp>, 'name' | 'data'>, cutOff: AbortSignal) => Promise<Processed>
  readonly outage: Outage
}

/** The queue learns that a wake-up is free again. If this fails, a reconciler enqueues another soon after. */
const GIVE_BACK_MS = 1_000
/** Long for a queue that has just been checked; one that failed since is waited for without end. */
const READY_MS = 5_000
const CLOSE_MS = 1_000

/**
 * Processes the wake-ups of one queue.
 *
 *     open ──► ready ──► run ──► stopped
 *      ▲ after a pause │ failed
 *      └───────────────┘
 *
 * BullMQ remembers for ever that its first connection was refused, so a worker that does not become ready is closed and
 * another takes its place.
 *
 * A wake-up whose lock in the queue is lost (the queue was wiped, this process was suspended) is not a reason to stop:
 * another worker that gets it finds the work taken. What stops the work is the loss of its lease in Postgres.
 */
export class Consumer<WakeUp> {
  /** The wake-ups that are being processed. */
  readonly underWay = new Set<Promise<unknown>>()
  readonly #options: ConsumerOptions<WakeUp>
  readonly #stopping = new AbortController()
  readonly #cutOff = new AbortController()
  readonly #ready = Promise.withResolvers<void>()
  #worker: QueueWorker
  readonly #working: Promise<void>

  private constructor(options: ConsumerOptions<WakeUp>) {
    this.#options = options
    this.#worker = this.#openWorker()
    this.#working = this.#workUntilStopped()
  }

  /** Begins, and waits a while until the queue is ready. */
  static async open<WakeUp>(options: ConsumerOptions<WakeUp>): Promise<Consumer<WakeUp>> {
    const consumer = new Consumer(options)
    await succeedsWithin(READY_MS, consumer.#ready.promise)
    return consumer
  }

  /** Processes a wake-up that did not come through the queue. */
  processHere(name: string, data: WakeUp): void {
    if (this.#isStopped) return
    // Only a Postgres that does not answer fails it, which its pool logs. The work is still due then.
    this.#track(this.#options.process({ name, data }, this.#cutOff.signal)).catch(() => {})
  }

  /** Takes no new wake-ups; those that still come are given back. Resolves once none is being processed. */
  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#worker.pause()
  }

  /** Aborts what is under way. */
  abort(): void {
    this.#cutOff.abort(new Error('draining'))
  }

  /** Leaves the queue, even one that does not answer. */
  async close(): Promise<void> {
    await succeedsWithin(CLOSE_MS, this.#worker.close(true))
    await succeedsWithin(CLOSE_MS, this.#working)
  }

  get #isStopped(): boolean {
    return this.#stopping.signal.aborted
  }

  #openWorker(): QueueWorker {
    return this.#options.open((job, token) => this.#track(this.#processOrGiveBack(job, token)))
  }

  async #track(processing: Promise<unknown>): Promise<void> {
    this.underWay.add(processing)
    await processing.finally(() => this.underWay.delete(processing))
  }

  async #workUntilStopped(): Promise<void> {
    const { what, outage } = this.#options
    for (let failures = 0; !this.#isStopped; ) {
      try {
        await this.#worker.waitUntilReady()
        outage.ends(what)
        this.#ready.resolve()
        if (!this.#isStopped) await this.#worker.run()
        return
      } catch (error) {
        if (this.#isStopped) return
        outage.begins(what, error)
        failures += 1
        await succeedsWithin(CLOSE_MS, this.#worker.close(true))
        await delay(backOffMs(failures), undefined, { signal: this.#stopping.signal }).catch(() => {})
        if (!this.#isStopped) this.#worker = this.#openWorker()
      }
    }
  }

  async #processOrGiveBack(job: QueueJob<WakeUp>, token?: string): Promise<void> {
    if (job.name === CHECK) return
    const processed = this.#isStopped ? 'given back' : await this.#options.process(job, this.#cutOff.signal)
    if (processed !== 'given back' || !this.#isStopped) return
    await succeedsWithin(GIVE_BACK_MS, job.moveToWait(token))
    throw new WaitingError()
  }
}
