import { randomUUID } from 'node:crypto'
import type { NotifySettings } from '#src/model/notify-settings.ts'
import type { ProxyChoice } from '#src/platform/dispatcher.ts'
import { type CallResult, openCaller } from './caller.ts'
import { writeMessage } from './message.ts'

const TEST_TYPE = 'notify.test'

/** Sends a test message to the receiver at once, outside of the outbox. Returns its id, and what the receiver answered. */
export async function sendTest(
  settings: NotifySettings,
  webhook: NonNullable<NotifySettings['webhook']>,
  proxy: ProxyChoice,
  signal: AbortSignal,
): Promise<CallResult & { readonly id: string }> {
  await using caller = openCaller(webhook.url, 'FERRY_WEBHOOK_URL', settings, proxy)
  const at = new Date()
  const sentence = 'This is a test message of Ferry. Nothing happened.'
  const message = { type: TEST_TYPE, state: 'raised', at, account: null, data: {}, sentence } as const
  const id = `msg_${randomUUID()}`
  const result = await caller.call(writeMessage({ id, ...message }, webhook, at), signal)
  return { id, ...result }
}
