import { type Logger, pino } from 'pino'
import { readConfig } from '#src/config.ts'
import { raiseEvent, resolveEvent } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { summarizeRules } from '#src/inventory/history/rule-events.ts'
import type { EventData, EventKey } from '#src/model/event.ts'
import { Notifier } from '#src/notify/notifier.ts'
import { routeEvents } from '#src/notify/route.ts'
import { questionsOf } from '#src/worker/notifications.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { openReceiver, type Receiver, SECRET } from './receiver.ts'

export type NotifyHarness = FerryHarness & {
  readonly receiver: Receiver
  /** A notifier as a worker has one; `env` adds settings, `signal` stops it, `log` is what it says. */
  openNotifier(env?: Record<string, string>, signal?: AbortSignal, log?: Logger): Notifier
  raise(key: Partial<EventKey>, data?: EventData): Promise<boolean>
  resolve(key: Partial<EventKey>): Promise<boolean>
  /** Decides who gets what was raised, as a notifier does before it sends. */
  route(): Promise<void>
  /** Lets what waits for its time be sent now. */
  endWaiting(): Promise<void>
}

const KEY: EventKey = { kind: 'import.paused', account: 'default', subject: '1' }
const DATA: EventData = { import: '1', page: '2', code: 'NoLicense', requestId: 'r1' }

/** A Ferry, and a receiver of its events. */
export async function openNotifyHarness(): Promise<NotifyHarness> {
  await using opened = new AsyncDisposableStack()
  const harness = opened.use(await openFerryHarness({ rules: 0, servers: 0 }))
  const receiver = opened.use(await openReceiver())
  const { ferry } = harness
  const { pool } = ferry
  // Known before anything happens.
  await harness.query(`insert into ferry.receivers (name, after_event) values ('webhook', 0)`)
  const kept = opened.move()
  const settingsOf = (env: Record<string, string>) =>
    readConfig({ FERRY_WEBHOOK_URL: receiver.url, FERRY_WEBHOOK_SECRET: SECRET, ...env })
  return {
    ...harness,
    receiver,
    openNotifier(env = {}, signal = new AbortController().signal, log = pino({ level: 'silent' })) {
      const { notify: settings, proxy } = settingsOf(env)
      const accounts = [...ferry.accounts.keys()]
      const holder = `test ${Math.random()}`
      const ask = questionsOf({ everyMs: Number.MAX_SAFE_INTEGER }) // no night was due since anything ran
      const stopping = new AbortController()
      const stopped = AbortSignal.any([signal, stopping.signal])
      const context = { pool, log, holder, settings, proxy, accounts, ask, summarizeRules, signal: stopped }
      const notifier = kept.use(new Notifier(context))
      kept.defer(() => stopping.abort())
      return notifier
    },
    async route() {
      const { receivers, timezone } = settingsOf({}).notify
      await routeEvents({ pool, receivers, timezone, summarizeRules })
    },
    raise: (key, data = DATA) => inTransaction(pool, client => raiseEvent(client, { ...KEY, ...key }, data)),
    resolve: key => inTransaction(pool, client => resolveEvent(client, { ...KEY, ...key })),
    async endWaiting() {
      await harness.query('update ferry.deliveries set retry_at = null')
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
