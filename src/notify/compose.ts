import { counted } from '#src/model/counted.ts'
import type { Receiver } from '#src/model/settings.ts'
import type { Message, MessageData } from './message.ts'
import type { Pending } from './pending.ts'
import { pageOf } from './places.ts'
import { plainData, publicData, sentenceOf } from './sentences.ts'

/** What is sent at once to a receiver: one message, or those of a digest. */
export type Sending = readonly [Pending, ...Pending[]]

/** How many messages of a digest its sentences name; programs get all. */
const MAX_LINES = 20

/** Returns the message about what is sent at once. Its id is the same each time. */
export function composeMessage(
  sending: Sending,
  { digestCron }: Pick<Receiver, 'digestCron'>,
  publicUrl: string | null,
): Message {
  const [first] = sending
  const id = `msg_${first.messageId}`
  if (digestCron === null)
    return { id, type: first.kind, at: first.happenedAt, data: dataOf(first, publicUrl) }
  const messages = sending.map(one => ({
    type: one.kind,
    timestamp: one.happenedAt.toISOString(),
    data: dataOf(one, publicUrl),
  }))
  const lines = messages
    .slice(0, MAX_LINES)
    .map(({ data: { summary, link } }) => `\n- ${summary}${link === undefined ? '' : ` ${link}`}`)
  const more = messages.length > MAX_LINES ? `\nand ${messages.length - MAX_LINES} more` : ''
  const summary = `Ferry, since the last digest: ${counted(messages.length, 'message')}.${lines.join('')}${more}`
  const at = sending.at(-1)?.happenedAt ?? first.happenedAt
  return { id, type: 'digest', at, data: { state: 'raised', messages, summary } }
}

function dataOf({ kind, state, account, data: stored }: Pending, publicUrl: string | null): MessageData {
  const data = plainData(stored)
  const summary = sentenceOf({ kind, state, account, data })
  const link = publicUrl === null ? {} : { link: publicUrl + pageOf({ kind, account, data }) }
  return { state, account, ...publicData(data), summary, ...link }
}
