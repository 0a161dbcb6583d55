import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import type { NotifySettings } from '#src/model/settings.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type Caller, openCaller } from './caller.ts'
import { deliverPending } from './deliver.ts'
import { type Watched, watch } from './watch.ts'

/*
 * Tells people what happened, from one worker of all: the one that has the lease. It keeps the lease for as long as it
 * lives, so that messages are sent one after another, in their order. Another worker takes over after it.
 *
 *     transactions ──► outbox (ferry.events) ──► deliver ──► FERRY_WEBHOOK_URL
 *     watch ─────────────▲                       heartbeat ─► FERRY_HEARTBEAT_URL
 */

export type NotifierContext = Watched & {
  readonly log: Logger
  readonly holder: string
  readonly settings: NotifySettings
  readonly proxy: ProxyChoice
  /** Aborts what is being sent. Its outcome is then unknown, so it is sent again. */
  readonly signal: AbortSignal
}

const LEASE_NAME = 'notify'
const LEASE_MS = 30_000

/** How often the other workers try to take the lease. */
const ASK_EVERY_MS = 10_000
const WATCH_EVERY_MS = 20_000
const BEAT_EVERY_MS = 60_000

/** Tells people of events, and calls the heartbeat, as far as the settings say. */
export class Notifier implements AsyncDisposable {
  readonly #context: NotifierContext
  readonly #receiver: Caller | null
  readonly #monitor: Caller | null
  readonly #leader: Leader
  readonly #watching = new Interval(WATCH_EVERY_MS)
  readonly #beating = new Interval(BEAT_EVERY_MS)

  constructor(context: NotifierContext) {
    const { settings, proxy, pool, holder, log } = context
    const { webhook, heartbeat } = settings
    this.#context = context
    this.#receiver = webhook && openCaller(webhook.url, 'FERRY_WEBHOOK_URL', settings, proxy)
    this.#monitor = heartbeat && openCaller(heartbeat, 'FERRY_HEARTBEAT_URL', settings, proxy)
    this.#leader = new Leader(pool, holder, log)
  }

  /** Does what is due, if this worker has the lease; returns in how many milliseconds it is worth looking again. */
  async look(): Promise<number> {
    if (!(await this.#leader.leads())) return Number.POSITIVE_INFINITY
    const { pool, log, settings, signal } = this.#context
    const { webhook, kinds } = settings
    if (this.#receiver && this.#watching.isDue()) await watch(this.#context)
    if (this.#monitor && this.#beating.isDue()) await this.#beat(this.#monitor)
    if (!this.#receiver || !webhook) return Number.POSITIVE_INFINITY
    return deliverPending({ pool, log, webhook, caller: this.#receiver, kinds }, signal)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#leader.release()
    await this.#receiver?.[Symbol.asyncDispose]()
    await this.#monitor?.[Symbol.asyncDispose]()
  }

  async #beat(monitor: Caller): Promise<void> {
    const { pool, log, accounts, ask, signal } = this.#context
    if (!(await ask.areAllFresh(pool, accounts))) return
    const result = await monitor.call(null, signal)
    if (!result.ok && !signal.aborted) log.warn(`The heartbeat was not accepted: ${result.why}.`)
  }
}

/** Takes the lease once it is free, and keeps it. */
class Leader {
  readonly #pool: Pool
  readonly #holder: string
  readonly #log: Logger
  readonly #asking = new Interval(ASK_EVERY_MS)
  #lease: Lease | null = null

  constructor(pool: Pool, holder: string, log: Logger) {
    this.#pool = pool
    this.#holder = holder
    this.#log = log
  }

  async leads(): Promise<boolean> {
    if (this.#lease?.signal.aborted) this.#lease = null
    if (this.#lease === null && this.#asking.isDue()) {
      const asked = await acquireLease(this.#pool, LEASE_NAME, this.#holder, this.#log, { lifeMs: LEASE_MS })
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
