import { z } from 'zod'
import { counted } from '#src/model/counted.ts'
import { cutText } from '#src/model/cut-text.ts'
import { OUTSIDE_BASIC_VIEW } from '#src/model/declarations.ts'
import type { EventData, EventKind, EventState } from '#src/model/event.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { troubleInWords, WHY_LATE } from '#src/model/trouble.ts'

/*
 * What people are told, in words.
 */

/** What a sentence is made of. */
type Occurrence = {
  readonly kind: EventKind
  readonly state: EventState
  readonly account: string
  readonly data: EventData
}

/** What happened, and what to do. A chat shows the sentence and nothing else. */
type Sentences = {
  readonly raised: (data: EventData, account: string) => string
  readonly resolved?: (data: EventData, account: string) => string
}

const SENTENCES: Readonly<Record<EventKind, Sentences>> = {
  'inventory.late': {
    raised: (data, account) => `${data.inventory} in Postgres are late: ${whyInWords(data, account)}`,
    // They were read, or their account is not read any more.
    resolved: ({ inventory }) => `The ${inventory} in Postgres are no longer late.`,
  },
  'removals.held': {
    raised: ({ inventory, run, rows }) =>
      `Run ${run} holds the removal of ${removalInWords(rows, inventory)} until somebody decides. Look with \`ferry runs show ${run}\`, then run \`ferry runs approve ${run}\` or \`ferry runs reject ${run}\`.`,
    resolved: ({ inventory, run }) =>
      `The removals of ${inventory} that run ${run} held no longer wait for a decision.`,
  },
  'run.failing': {
    raised: (data, account) => `the last runs of ${data.inventory} failed: ${whyInWords(data, account)}`,
    resolved: ({ inventory }) => `Runs of ${inventory} fail no longer.`,
  },
  'night.missed': {
    raised: (data, account) =>
      `No nightly snapshot has been taken since it was due at ${data.night}${data.why ? `: ${whyInWords(data, account)}` : '. `ferry schedules list` shows its schedule,'} \`ferry snapshots take\` takes one now.`,
    // A snapshot was taken, or its schedule was paused.
    resolved: () => 'No nightly snapshot counts as missed any more.',
  },
  'import.paused': {
    raised: ({ import: id, code }) =>
      `Import ${id} is paused${code ? ` (${code})` : ' by a person'}. \`ferry imports show ${id}\` says why and what to do.`,
    resolved: ({ import: id }) => `Import ${id} is no longer paused.`,
  },
  'import.undecided': {
    raised: ({ import: id }) =>
      `Import ${id} waits for a decision about batches whose outcome is unknown. Look with \`ferry imports show ${id}\`, then run \`ferry imports resolve ${id} --as sent\` or \`--as resend\`.`,
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
  'rule.disabled': { raised: data => `${rulesInWords('switched off', data)}.${moreInWords(data)}` },
  'rule.removed': { raised: data => `${rulesInWords('removed', data)}.${moreInWords(data)}` },
  'rule.changed': { raised: data => `${changedInWords(data)}.${moreInWords(data)}` },
  'rule.added': { raised: data => `${rulesInWords('added', data)}.${moreInWords(data)}` },
}

/** `15 alert-rules`, `1 row of alert-rules`: the names of inventories are plurals. */
function removalInWords(
  rows: EventData[string] | undefined,
  inventory: EventData[string] | undefined,
): string {
  return rows === 1 ? `1 row of ${inventory}` : `${rows} ${inventory}`
}

function many(count: EventData[string] | undefined, what: string): string {
  return typeof count === 'number' ? counted(count, what) : `${what}s`
}

const Facts = z.object({
  why: z.enum(WHY_LATE),
  inventory: z.enum(RESOURCES),
  schedule: z.string().nullable(),
  run: z.string().nullable(),
  code: z.string().nullable(),
  keySetting: z.string().nullable(),
  hasWorker: z.number().transform(Boolean),
})

/** The sentence that the console and the command line say too. */
function whyInWords(data: EventData, account: string): string {
  const facts = Facts.safeParse(data).data
  if (!facts) return '`ferry freshness` says why.'
  return troubleInWords({ ...facts, account })
}

/** How many rules or people a sentence names; programs get more. */
const MAX_NAMED = 3

/** `3 alert rules were switched off by Eve: a, b, c` */
function rulesInWords(verb: string, data: EventData): string {
  const { rules, ruleIds, names } = data
  const count = typeof rules === 'number' ? rules : 0
  const named = listOf(names ?? ruleIds, count)
  return `${counted(count, 'alert rule was', 'alert rules were')} ${verb}${byWhom(data)}${named && `: ${named}`}`
}

/** The first of a list, and how many more there are. */
function listOf(values: EventData[string] | undefined, count: number): string {
  if (!Array.isArray(values)) return ''
  const shown = values.slice(0, MAX_NAMED).map(oneLine)
  return count > shown.length ? `${shown.join(', ')} and ${count - shown.length} more` : shown.join(', ')
}

/** Names are the platform's: no line ends, and none long enough to hide the rest. */
function oneLine(name: string): string {
  return cutText(name.replace(/[\p{C}\p{Z}]+/gu, ' ').trim(), 80)
}

/** `byPeople`: how many of the rules somebody is known to have done it to, if not all. */
function byWhom({ people, byPeople, peopleIds, by }: EventData): string {
  const count = typeof people === 'number' ? people : 0
  if (count === 0) return ''
  const some = byPeople === undefined ? '' : `, ${byPeople} of them`
  if (Array.isArray(by)) return `${some} by ${listOf(by, count)}`
  return `${some} by ${count === 1 ? `one person (id ${listOf(peopleIds, 1)})` : `${count} people`}`
}

/** What a change altered: `(enabled, labels)`, and how many edits altered nothing that Ferry reads. */
function changedInWords(data: EventData): string {
  const { rules, fields, outsideBasicView: outside } = data
  if (rules === outside) return rulesInWords(OUTSIDE_BASIC_VIEW, data)
  const altered = Array.isArray(fields) && fields.length > 0 ? ` (${fields.join(', ')})` : ''
  const besides =
    typeof outside === 'number' && outside > 0 ? `; ${outside} of them ${OUTSIDE_BASIC_VIEW}` : ''
  return rulesInWords(`changed${altered}`, data) + besides
}

/** What the same person did besides, and where to look. */
function moreInWords({ alsoChanged, alsoAdded, run, rules, ruleIds }: EventData): string {
  const also = [alsoChanged ? `changed ${alsoChanged}` : '', alsoAdded ? `added ${alsoAdded}` : ''].filter(
    words => words !== '',
  )
  const look =
    rules === 1 && Array.isArray(ruleIds) && ruleIds[0]
      ? `\`ferry rules show ${ruleIds[0]}\` shows its history.`
      : `\`ferry changes --since 1d\` shows them; run ${run} observed it.`
  return `${also.length > 0 ? ` The same person ${also.join(' and ')} besides.` : ''} ${look}`
}

/** The sentence of an event, with the account it is about. */
export function sentenceOf({ kind, state, account, data }: Occurrence): string {
  const { raised, resolved = raised } = SENTENCES[kind]
  return `Account ${account}: ${(state === 'raised' ? raised : resolved)(data, account)}`
}

/** What the platform writes as it likes: codes of errors and ids. */
const OF_PLATFORM: readonly string[] = ['code', 'requestId', 'serverIds']

/** A code or an id. Whatever has a space or a line end may be a sentence, and whatever is longer may be anything. */
const IS_PLAIN = /^[\w.:/+=-]{1,128}$/

/** What Ferry itself needs of an event. */
const INTERNAL: readonly string[] = ['cause', 'hasWorker']

/** What is told of an event: of the platform only what looks like a code or an id. Another code is `OtherCode`. */
export function plainData(data: EventData): EventData {
  return Object.fromEntries(
    Object.entries(data).map(([name, value]) => [
      name,
      OF_PLATFORM.includes(name) ? plain(name, value) : value,
    ]),
  )
}

/** The same without what is of no use to programs. */
export function publicData(data: EventData): EventData {
  return Object.fromEntries(Object.entries(data).filter(([name]) => !INTERNAL.includes(name)))
}

function plain(name: string, value: EventData[string]): EventData[string] {
  if (typeof value === 'object') return value?.filter(id => IS_PLAIN.test(id)) ?? null
  if (IS_PLAIN.test(`${value}`)) return value
  return name === 'code' ? 'OtherCode' : null
}
