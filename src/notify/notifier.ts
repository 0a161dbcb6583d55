import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import type { NotifySettings } from '#src/model/settings.ts'
import { succeedsWithin } from '#src/model/within.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type Caller, openCaller } from './caller.ts'
import { deliverPending } from './deliver.ts'
import { Acceptances } from './pending.ts'
import { registerReceivers, routeEvents } from './route.ts'
import type { SummarizeRules } from './rule-events.ts'
import { type Watched, watch } from './watch.ts'

/*
 * Tells people what happened, from one worker of all: the one that has the lease. It keeps the lease for as long as it
 * lives, so that messages are sent one after another, in their order. Another worker takes over after it.
 *
 *     transactions ──► outbox (ferry.events) ──► route ──► ferry.deliveries ──┬─► receiver
 *     watch ─────────────▲                                                    └─► receiver
 *                                                heartbeat ─► FERRY_HEARTBEAT_URL
 *
 * The heartbeat has a lease of its own: a worker may have the settings for one of both only.
 *
 * Each receiver is sent to by itself: one that is slow or does not answer delays no other.
 */

export type NotifierContext = Watched & {
  readonly log: Logger
  readonly holder: string
  readonly settings: NotifySettings
  readonly proxy: ProxyChoice
  readonly summarizeRules: SummarizeRules
  /** Aborts what is being sent. Its outcome is then unknown, so it is sent again. */
  readonly signal: AbortSignal
}

const LEASE_MS = 30_000

/** How often the other workers try to take the lease. */
const ASK_EVERY_MS = 10_000
const WATCH_EVERY_MS = 20_000
const BEAT_EVERY_MS = 60_000

/** A look waits this long for receivers. What takes longer goes on while others are sent to. */
const LOOK_WITHIN_MS = 3_000

/** Tells people of events, and calls the heartbeat, as far as the settings say. */
export class Notifier implements AsyncDisposable {
  readonly #context: NotifierContext
  readonly #callers = new AsyncDisposableStack()
  readonly #senders: readonly Sender[]
  readonly #monitor: Sender | null
  readonly #sending: Leader
  readonly #beating: Leader
  /** A receiver is told of what happens from then on, if the worker that has the lease then has it in its settings. */
  #isRegistered = false
  readonly #nextWatch = new Interval(WATCH_EVERY_MS)
  readonly #nextBeat = new Interval(BEAT_EVERY_MS)

  constructor(context: NotifierContext) {
    const { settings, proxy, pool, holder, log, signal } = context
    const { heartbeat, publicUrl } = settings
    this.#context = context
    this.#senders = settings.receivers.map(receiver => {
      const caller = this.#callers.use(openCaller(receiver.url, receiver.urlSetting, settings, proxy))
      const acceptances = new Acceptances(pool, receiver.name)
      return new Sender(() =>
        deliverPending(
          { pool, log, receiver, caller, acceptances, publicUrl },
          AbortSignal.any([signal, this.#sending.signal]),
        ),
      )
    })
    const monitor =
      heartbeat && this.#callers.use(openCaller(heartbeat, 'FERRY_HEARTBEAT_URL', settings, proxy))
    this.#monitor = monitor && new Sender(() => this.#callMonitor(monitor))
    this.#sending = new Leader('notify', pool, holder, log)
    this.#beating = new Leader('heartbeat', pool, holder, log)
  }

  /** Does what is due, as far as this worker has the leases; returns in how many milliseconds it is worth looking again. */
  async look(): Promise<number> {
    const { pool, settings, summarizeRules } = this.#context
    const { receivers, timezone } = settings
    if (!this.#isRegistered) await registerReceivers(pool, receivers)
    this.#isRegistered = true
    let nextMs = Number.POSITIVE_INFINITY
    const sends = receivers.length > 0 && (await this.#sending.leads())
    if (sends) {
      if (this.#nextWatch.isDue()) {
        await registerReceivers(pool, receivers) // somebody may have removed them
        await watch({ ...this.#context, accounts: await this.#listAccounts() })
      }
      if (await routeEvents({ pool, receivers, timezone, summarizeRules })) nextMs = 0
    }
    const beat =
      this.#monitor && (await this.#beating.leads()) && this.#nextBeat.isDue() ? this.#monitor : null
    const ended = [...(sends ? this.#senders : []), ...(beat ? [beat] : [])].map(async sender => {
      nextMs = Math.min(nextMs, await sender.send())
    })
    const all = Promise.all(ended)
    if (!(await succeedsWithin(LOOK_WITHIN_MS, Promise.allSettled([all])))) return 0
    await all
    return nextMs
  }

  /** Resolves once nothing is being sent: the signal of the context has to be aborted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all([...this.#senders, ...(this.#monitor ? [this.#monitor] : [])].map(one => one.settled()))
    await Promise.all([this.#sending.release(), this.#beating.release()])
    await this.#callers.disposeAsync()
  }

  /** One worker tells of the accounts of all. */
  async #listAccounts(): Promise<string[]> {
    const { pool, accounts, ask } = this.#context
    return [...new Set([...accounts, ...(await ask.listAccounts(pool))])]
  }

  async #callMonitor(monitor: Caller): Promise<number> {
    const { pool, log, ask, signal } = this.#context
    if (await ask.areAllFresh(pool, await this.#listAccounts())) {
      const result = await monitor.call(null, signal)
      if (!result.ok && !signal.aborted) log.warn(`The heartbeat was not accepted: ${result.why}.`)
    }
    return Number.POSITIVE_INFINITY
  }
}

/** Sends to one address, one time after another: never twice at once. */
class Sender {
  readonly #work: () => Promise<number>
  #underWay: Promise<number> | null = null

  constructor(work: () => Promise<number>) {
    this.#work = work
  }

  /** Begins, unless it is under way, and returns in how many milliseconds it is worth sending again. */
  send(): Promise<number> {
    this.#underWay ??= this.#work().finally(() => {
      this.#underWay = null
    })
    return this.#underWay
  }

  /** Resolves once nothing is under way, however that ends. */
  async settled(): Promise<void> {
    await Promise.allSettled([this.#underWay])
  }
}

/** Takes the lease once it is free, and keeps it. */
class Leader {
  readonly #leaseName: string
  readonly #pool: Pool
  readonly #holder: string
  readonly #log: Logger
  readonly #asking = new Interval(ASK_EVERY_MS)
  #lease: Lease | null = null

  constructor(leaseName: string, pool: Pool, holder: string, log: Logger) {
    this.#leaseName = leaseName
    this.#pool = pool
    this.#holder = holder
    this.#log = log
  }

  /** Aborts once another worker may have the lease. */
  get signal(): AbortSignal {
    return this.#lease?.signal ?? AbortSignal.abort()
  }

  async leads(): Promise<boolean> {
    if (this.#lease?.signal.aborted) this.#lease = null
    if (this.#lease === null && this.#asking.isDue()) {
      const asked = await acquireLease(this.#pool, this.#leaseName, this.#holder, this.#log, {
        lifeMs: LEASE_MS,
      })
      if (!('heldBy' in asked)) this.#lease = asked
    }
    return this.#lease !== null
  }

  async release(): Promise<void> {
    await this.#lease?.release()
  }
}

/** Time, by the monotonic clock, in equal parts. */
class Interval {
  readonly #ms: number
  #dueAtMs = 0

  constructor(ms: number) {
    this.#ms = ms
  }

  /** Whether this much time has passed since it was last due. */
  isDue(): boolean {
    const nowMs = performance.now()
    if (nowMs < this.#dueAtMs) return false
    this.#dueAtMs = nowMs + this.#ms
    return true
  }
}
