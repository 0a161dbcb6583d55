import type { Pool } from 'pg'
import type { Logger } from 'pino'
import { snapshotInventory } from '#jobs/snapshot-inventory.ts'
import { readClock } from '#src/db/clock.ts'
import { summarizeRules } from '#src/inventory/history/rule-events.ts'
import { listWithoutSnapshot } from '#src/inventory/history/snapshots.ts'
import { listFailing } from '#src/inventory/runs/failing-runs.ts'
import type { Notifier, NotifierContext } from '#src/notify/notifier.ts'
import type { Questions } from '#src/notify/watch.ts'
import { areAllFresh, listLate, loadFreshness, troubleOf } from '#src/reports/freshness.ts'
import { listNightTimes, listTargetedAccounts } from '#src/reports/freshness-targets.ts'
import { listPausedAccounts } from '#src/schedules/control.ts'
import { slotAt, type Timing } from '#src/schedules/timing.ts'
import { NIGHT_GRACE_MS } from './freshness-targets.ts'
import { Loop } from './loop.ts'

export type NotificationContext = {
  readonly pool: Pool
  readonly log: Logger
  readonly holder: string
  readonly accounts: ReadonlyMap<string, unknown>
  readonly nightlyCron: string
  readonly timezone: string
  readonly config: { readonly notify: NotifierContext['settings']; readonly proxy: NotifierContext['proxy'] }
}

/** The rooms that know what is watched. `nightly` says when snapshots are due of accounts whose worker does not. */
export function questionsOf(nightly: Timing): Questions {
  return {
    areAllFresh,
    listAccounts: listTargetedAccounts,
    async listLate(client, accounts) {
      return (await listLate(client, accounts)).flatMap(freshness => troubleOf(freshness) ?? [])
    },
    async listFailing(client, accounts) {
      const failing = await listFailing(client, accounts)
      const known = failing.length === 0 ? [] : await loadFreshness(client)
      return failing.map(({ account, inventory, run, code }) => {
        const freshness = known.find(one => one.account === account && one.inventory === inventory)
        const { schedule = null, keySetting = null } = freshness ?? {}
        return { why: 'failed', account, inventory, schedule, run, code, keySetting, hasWorker: true }
      })
    },
    /** A schedule that a person paused misses nothing, nor does one that had another time, or an account that was not there yet. */
    async listMissedNights(client, accounts) {
      const { now } = await readClock(client)
      const paused = await listPausedAccounts(client, snapshotInventory.name)
      const times = await listNightTimes(client, accounts)
      // Most accounts have the same, and it takes milliseconds to compute.
      const nights = new Map<string, Date>()
      const due = accounts.flatMap(account => {
        const own = times.find(one => one.account === account)
        const timing = own?.cron ? { cron: own.cron, timezone: own.timezone } : nightly
        const night = nights.getOrInsertComputed(JSON.stringify(timing), () =>
          slotAt(timing, new Date(now.getTime() - NIGHT_GRACE_MS)),
        )
        return paused.includes(account) || (own?.since && own.since > night) ? [] : { account, night }
      })
      const missed = await listWithoutSnapshot(client, due)
      return due.filter(({ account }) => missed.includes(account))
    },
  }
}

const LOOK_EVERY_MS = 5_000

/** Tells people what happens until it is disposed of. Loads nothing, and does nothing, if no receiver is set. */
export async function openNotifications(context: NotificationContext): Promise<AsyncDisposable> {
  const stopping = new AbortController()
  const notifier = await openNotifier(context, stopping.signal)
  if (notifier === null) return new AsyncDisposableStack()
  const loop = new Loop('notifier', LOOK_EVERY_MS, () => notifier.look(), context.log)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('draining'))
      await loop.stop()
      await notifier[Symbol.asyncDispose]()
    },
  }
}

/** Tells people what is to be told now, and ends. Does nothing if a worker does it, or no receiver is set. */
export async function notifyNow(context: NotificationContext, signal: AbortSignal): Promise<void> {
  const ending = new AbortController()
  const notifier = await openNotifier(context, AbortSignal.any([signal, ending.signal]))
  if (notifier === null) return
  try {
    while (!signal.aborted && (await notifier.look()) === 0);
  } finally {
    ending.abort(new Error('done'))
    await notifier[Symbol.asyncDispose]()
  }
}

/** Null if no receiver is set; then nothing is loaded. */
async function openNotifier(context: NotificationContext, signal: AbortSignal): Promise<Notifier | null> {
  const { pool, log, holder, config, nightlyCron: cron, timezone } = context
  const { notify: settings, proxy } = config
  if (settings.receivers.length === 0 && settings.heartbeat === null) return null
  const { Notifier } = await import('#src/notify/notifier.ts')
  return new Notifier({
    pool,
    log,
    holder,
    settings,
    proxy,
    accounts: [...context.accounts.keys()],
    ask: questionsOf({ cron, timezone }),
    summarizeRules,
    signal,
  })
}
