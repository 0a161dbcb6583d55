import { counted } from '#src/model/counted.ts'
import type { EventData, EventKind, EventState } from '#src/model/event.ts'

/*
 * Every sentence in which an event is told to people: what happened, and what to do. A receiver that is a chat shows the
 * sentence and nothing else.
 */

/** What a sentence is made of. */
export type Told = {
  readonly kind: EventKind
  readonly state: EventState
  readonly account: string
  readonly data: EventData
}

type Sentences = {
  readonly raised: (data: EventData) => string
  readonly resolved?: (data: EventData) => string
}

const SENTENCES: Readonly<Record<EventKind, Sentences>> = {
  'inventory.late': {
    raised: ({ inventory }) =>
      `The ${inventory} in Postgres are older than promised, or were never read. \`ferry freshness\` says why, \`ferry runs list\` shows the runs.`,
    resolved: ({ inventory }) => `The ${inventory} in Postgres are fresh again.`,
  },
  'removals.held': {
    raised: ({ inventory, run, rows }) =>
      `Run ${run} holds the removal of ${rows} ${inventory}: too many were gone at once. Look with \`ferry runs show ${run}\`, then \`ferry runs approve ${run}\` or \`ferry runs reject ${run}\`.`,
    resolved: ({ inventory, run }) => `The removals of ${inventory} that run ${run} held are decided.`,
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
    resolved: ({ import: id }) => `Import ${id} is not paused any more.`,
  },
  'import.undecided': {
    raised: ({ import: id }) =>
      `Import ${id} waits for a decision about batches whose outcome is unknown. Look with \`ferry imports show ${id}\`, then \`ferry imports resolve ${id}\`.`,
    resolved: ({ import: id }) => `Import ${id} waits for no decision any more.`,
  },
  'import.completed': {
    raised: ({ import: id }) => `Import ${id} is completed. \`ferry imports show ${id}\` shows its counts.`,
  },
  'mcp.tools.changed': {
    raised: ({ run, servers }) =>
      `The tools of ${servers} MCP ${servers === 1 ? 'server' : 'servers'} changed in run ${run}. \`ferry report mcp_tool_changes\` shows what.`,
  },
  'drift.found': {
    raised: ({ inventory, run, fields }) =>
      `The platform sends ${typeof fields === 'number' ? counted(fields, 'field') : 'fields'} of ${inventory} that its documentation does not name, first seen in run ${run}. Ferry does not store what they hold; \`ferry runs show ${run}\` has the names.`,
  },
}

/** The sentence of an event, with the account it is about. */
export function sentenceOf({ kind, state, account, data }: Told): string {
  const { raised, resolved = raised } = SENTENCES[kind]
  return `Account ${account}: ${(state === 'raised' ? raised : resolved)(data)}`
}
