import type { Pool } from 'pg'
import type { Logger } from 'pino'
import type { NotifierContext } from '#src/notify/notifier.ts'
import { slotAt } from '#src/schedules/timing.ts'
import { repeat } from './repeat.ts'

export type NotificationContext = {
  readonly pool: Pool
  readonly log: Logger
  readonly holder: string
  readonly accounts: ReadonlyMap<string, unknown>
  readonly nightlyCron: string
  readonly timezone: string
  readonly config: { readonly notify: NotifierContext['settings']; readonly proxy: NotifierContext['proxy'] }
}

const LOOK_EVERY_MS = 5_000

/** Tells people what happens until it is disposed of. Loads nothing, and does nothing, if no receiver is set. */
export async function openNotifications(context: NotificationContext): Promise<AsyncDisposable> {
  const { pool, log, holder, config, nightlyCron: cron, timezone } = context
  const { notify: settings, proxy } = config
  if (settings.webhook === null && settings.heartbeat === null) return new AsyncDisposableStack()
  const { openNotifier } = await import('#src/notify/notifier.ts')
  const stopping = new AbortController()
  const notifier = openNotifier({
    pool,
    log,
    holder,
    settings,
    proxy,
    accounts: [...context.accounts.keys()],
    nightBefore: at => slotAt({ cron, timezone }, at),
    signal: stopping.signal,
  })
  const loop = repeat('notifier', LOOK_EVERY_MS, notifier.look, log)
  return {
    async [Symbol.asyncDispose]() {
      stopping.abort(new Error('draining'))
      await loop.stop()
      await notifier[Symbol.asyncDispose]()
    },
  }
}
