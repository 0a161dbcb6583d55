import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { acquireLease, type Lease } from '#src/db/leases.ts'
import type { NotifySettings } from '#src/model/notify-settings.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type Caller, openCaller } from './caller.ts'
import { deliverPending } from './deliver.ts'
import { areAllFresh, type Watched, watch } from './watch.ts'

/*
 * Tells people what happened, from one worker of all: the one that has the lease. It keeps the lease for as long as it
 * lives, so that messages are sent one after another, in their order; another worker takes over when it is gone.
 *
 *     transactions ──► outbox (ferry.events) ──► deliver ──► FERRY_WEBHOOK_URL
 *     watch ─────────────▲                       heartbeat ─► FERRY_HEARTBEAT_URL
 */

export type NotifierContext = Watched & {
  readonly log: Logger
  readonly holder: string
  readonly settings: NotifySettings
  readonly proxy: ProxyChoice
  /** Aborts what is being sent: whether it arrived is then not known, and it is sent again. */
  readonly signal: AbortSignal
}

export type Notifier = AsyncDisposable & {
  /** Does what is due, if this worker has the lease; returns in how many milliseconds it is worth looking again. */
  look(): Promise<number>
}

const LEASE_NAME = 'notify'
const LEASE_MS = 30_000

/** How often the others look whether the lease is free. */
const ASK_EVERY_MS = 10_000
const WATCH_EVERY_MS = 20_000
const BEAT_EVERY_MS = 60_000

/** Opens what tells people, as the settings say. */
export function openNotifier(context: NotifierContext): Notifier {
  const { pool, log, settings, proxy, signal } = context
  const { webhook, heartbeat, kinds } = settings
  const open = (address: typeof heartbeat, setting: string) =>
    address && openCaller(address, setting, settings, proxy)
  const receiver = open(webhook?.url ?? null, 'FERRY_WEBHOOK_URL')
  const monitor = open(heartbeat, 'FERRY_HEARTBEAT_URL')
  const leader = createLeader(pool, context.holder, log)
  const watchIsDue = every(WATCH_EVERY_MS)
  const beatIsDue = every(BEAT_EVERY_MS)

  return {
    async look() {
      if (!(await leader.leads())) return Number.POSITIVE_INFINITY
      if (receiver && watchIsDue()) await watch(context)
      if (monitor && beatIsDue() && (await areAllFresh(context))) await beat(monitor, log, signal)
      if (!receiver || !webhook) return Number.POSITIVE_INFINITY
      return deliverPending({ pool, log, webhook, caller: receiver, kinds }, signal)
    },
    async [Symbol.asyncDispose]() {
      await leader.release()
      await receiver?.[Symbol.asyncDispose]()
      await monitor?.[Symbol.asyncDispose]()
    },
  }
}

async function beat(monitor: Caller, log: Logger, signal: AbortSignal): Promise<void> {
  const result = await monitor.call(null, signal)
  if (!result.ok && !signal.aborted) log.warn(`The heartbeat was not accepted: ${result.why}.`)
}

/** Takes the lease once it is free, and keeps it. */
function createLeader(pool: Pool, holder: string, log: Logger) {
  let lease: Lease | null = null
  const askIsDue = every(ASK_EVERY_MS)
  return {
    async leads(): Promise<boolean> {
      if (lease?.signal.aborted) lease = null
      if (lease === null && askIsDue()) {
        const asked = await acquireLease(pool, LEASE_NAME, holder, log, LEASE_MS)
        if (!('heldBy' in asked)) lease = asked
      }
      return lease !== null
    },
    async release() {
      await lease?.release()
    },
  }
}

/** Returns a function that says whether so much time has passed since it last said so, by the monotonic clock. */
function every(ms: number): () => boolean {
  let dueAtMs = 0
  return () => {
    const now = performance.now()
    if (now < dueAtMs) return false
    dueAtMs = now + ms
    return true
  }
}
