import { createHmac } from 'node:crypto'
import { counted } from '#src/model/counted.ts'
import type { EventData, EventKind, EventState } from '#src/model/event.ts'
import type { Webhook } from '#src/model/settings.ts'

/** One message: of an event, or the one of `ferry notify test`. */
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

/** What a sentence is made of. */
type Occurrence = {
  readonly kind: EventKind
  readonly state: EventState
  readonly account: string
  readonly data: EventData
}

/** What happened, and what to do. A chat shows the sentence and nothing else. */
type Sentences = {
  readonly raised: (data: EventData) => string
  readonly resolved?: (data: EventData) => string
}

const SENTENCES: Readonly<Record<EventKind, Sentences>> = {
  'inventory.late': {
    raised: ({ inventory }) =>
      `The ${inventory} in Postgres are older than their freshness target, or were never read. \`ferry freshness\` says why, \`ferry runs list\` shows the runs.`,
    resolved: ({ inventory }) => `The ${inventory} in Postgres are fresh again.`,
  },
  'removals.held': {
    raised: ({ inventory, run, rows }) =>
      `Run ${run} holds the removal of ${rows} ${inventory}: too many disappeared at once. Look with \`ferry runs show ${run}\`, then run \`ferry runs approve ${run}\` or \`ferry runs reject ${run}\`.`,
    resolved: ({ inventory, run }) => `The removals of ${inventory} that run ${run} held were decided.`,
  },
  'run.failing': {
    raised: ({ inventory, run, code }) =>
      `The last runs of ${inventory} failed${code ? ` (${code})` : ''}. \`ferry runs show ${run}\` says why.`,
    resolved: ({ inventory }) => `A run of ${inventory} has succeeded again.`,
  },
  'night.missed': {
    raised: ({ night }) =>
      `No nightly snapshot has been taken since it was due at ${night}. \`ferry schedules list\` shows its schedule, \`ferry snapshots take\` takes one now.`,
    resolved: () => 'A snapshot has been taken again.',
  },
  'import.paused': {
    raised: ({ import: id, code }) =>
      `Import ${id} is paused${code ? ` (${code})` : ' by a person'}. \`ferry imports show ${id}\` says why and what to do.`,
    resolved: ({ import: id }) => `Import ${id} is no longer paused.`,
  },
  'import.undecided': {
    raised: ({ import: id }) =>
      `Import ${id} waits for a decision about batches whose outcome is unknown. Look with \`ferry imports show ${id}\`, then run \`ferry imports resolve ${id}\`.`,
    resolved: ({ import: id }) => `Import ${id} no longer waits for a decision.`,
  },
  'import.completed': {
    raised: ({ import: id }) => `Import ${id} is completed. \`ferry imports show ${id}\` shows its counts.`,
  },
  'mcp.tools.changed': {
    raised: ({ run, servers }) =>
      `The tools of ${servers} MCP ${servers === 1 ? 'server' : 'servers'} changed in run ${run}. \`ferry report mcp_tool_changes\` shows what.`,
  },
  'drift.found': {
    raised: ({ inventory, run, fields, values }) => {
      const found = [
        ...(fields === 0
          ? []
          : [`${many(fields, 'field')} that its documentation does not name and Ferry does not store`]),
        ...(values ? [`${many(values, 'value')} that a field has never had before`] : []),
      ]
      return `The platform sends, of ${inventory}: ${found.join('; ')}. First seen in run ${run}; \`ferry runs show ${run}\` names them.`
    },
  },
}

function many(count: EventData[string] | undefined, what: string): string {
  return typeof count === 'number' ? counted(count, what) : `${what}s`
}

/** The sentence of an event, with the account it is about. */
export function sentenceOf({ kind, state, account, data }: Occurrence): string {
  const { raised, resolved = raised } = SENTENCES[kind]
  return `Account ${account}: ${(state === 'raised' ? raised : resolved)(data)}`
}

/** What the platform writes as it likes: codes of errors and ids. */
const OF_PLATFORM: readonly string[] = ['code', 'requestId', 'serverIds']

/** A code or an id. Whatever has a space or a line end may be a sentence, and whatever is longer may be anything. */
const IS_PLAIN = /^[\w.:/+=-]{1,128}$/

/** What is sent of an event: of the platform only what looks like a code or an id. Another code is `OtherCode`. */
export function plainData(data: EventData): EventData {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      OF_PLATFORM.includes(name) ? plain(name, value) : value,
    ]),
  )
}

function plain(name: string, value: EventData[string]): EventData[string] {
  if (typeof value === 'object') return value?.filter(id => IS_PLAIN.test(id)) ?? null
  if (IS_PLAIN.test(`${value}`)) return value
  return name === 'code' ? 'OtherCode' : null
}
