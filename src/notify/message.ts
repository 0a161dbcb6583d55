import { createHmac } from 'node:crypto'
import type { EventData, EventState } from '#src/model/event.ts'
import type { Webhook } from '#src/model/notify-settings.ts'

/** One message: an event that is told, or the one of `ferry notify test`. */
export type Message = {
  /** The same each time it is sent. */
  readonly id: string
  readonly type: string
  readonly state: EventState
  /** When it happened. */
  readonly at: Date
  readonly account: string | null
  readonly data: EventData
  /** The same for people. */
  readonly sentence: string
}

/** What is posted to a receiver. */
export type Posting = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/**
 * Writes a message in the format of its receiver. `sentAt` is by the database's clock: a receiver refuses a time that is
 * minutes off, and the clock of this machine may be.
 */
export function writeMessage(
  message: Message,
  { format, key }: Pick<Webhook, 'format' | 'key'>,
  sentAt: Date,
): Posting {
  const headers = { 'content-type': 'application/json', 'user-agent': 'ferry' }
  const { id, type, state, at, account, data, sentence } = message
  if (format === 'slack') return { headers, body: JSON.stringify({ text: slackText(sentence) }) }
  const body = JSON.stringify({
    type,
    timestamp: at.toISOString(),
    data: { state, ...(account !== null && { account }), ...data, summary: sentence },
  })
  const seconds = `${Math.floor(sentAt.getTime() / 1_000)}`
  return {
    headers: {
      ...headers,
      'webhook-id': id,
      'webhook-timestamp': seconds,
      ...(key && { 'webhook-signature': `v1,${signatureOf(key.reveal(), `${id}.${seconds}.${body}`)}` }),
    },
    body,
  }
}

function signatureOf(key: string, text: string): string {
  return createHmac('sha256', Buffer.from(key, 'base64')).update(text).digest('base64')
}

/** Slack reads these three characters as markup: an account's name must not become a link or call a channel. */
function slackText(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
