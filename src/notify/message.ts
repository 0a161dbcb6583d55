import { createHmac } from 'node:crypto'
import type { EventState } from '#src/model/event.ts'
import type { Receiver } from '#src/model/settings.ts'

/** One message: of an event, a digest of several, or the one of `ferry notify test`. */
export type Message = {
  /** The same each time it is sent. */
  readonly id: string
  readonly type: string
  /** When it happened. */
  readonly at: Date
  readonly data: MessageData
}

/** What a message contains. `summary` says the same for people; `link` leads to it in the console. */
export type MessageData = {
  readonly state: EventState
  readonly summary: string
  readonly link?: string
  readonly [name: string]: unknown
}

/** What is posted to a receiver. */
export type Posting = { readonly headers: Readonly<Record<string, string>>; readonly body: string }

/**
 * Writes a message in the format of its receiver. `sentAt` is by the database's clock: a receiver refuses a time that is
 * minutes off, and the clock of this machine may be.
 */
export function writeMessage(
  { id, type, at, data }: Message,
  { format, key }: Pick<Receiver, 'format' | 'key'>,
  sentAt: Date,
): Posting {
  const headers = { 'content-type': 'application/json', 'user-agent': 'ferry' }
  if (format === 'slack') return { headers, body: JSON.stringify({ text: slackText(data) }) }
  const body = JSON.stringify({ type, timestamp: at.toISOString(), data })
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
function slackText({ summary, link }: MessageData): string {
  const text = link === undefined ? summary : `${summary} ${link}`
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
