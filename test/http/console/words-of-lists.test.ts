import { afterAll, beforeAll, expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'

/* The words of a list that has no rows: what its fields take, and what stands in place of rows, with where it leads. */

type Words = {
  /** The fields with a hint. */
  readonly takes?: string
  readonly empty: string
  /** The same where an account is asked for, if it has other words. */
  readonly narrowed?: string
}

const WORDS: Readonly<Record<string, Words>> = {
  '/rules': {
    takes:
      'Words: in the name or a label, Folder: its number, Team: its whole name, Label: severity=critical',
    empty: 'Rules Alert rules No rule is known. ferry sync alert-rules reads them from the platform.',
    narrowed: 'Rules Alert rules No rule matches. [/rules] Show all',
  },
  '/changes': {
    takes: 'Person (of rules): a part of the name, Folder (of rules): its number',
    empty:
      'Changes [/changes/compare] Compare two moments or nights · [/changes/editors] Who edits most Changes, newest first Nothing has been read yet. ferry sync all reads both inventories now.',
    narrowed:
      'Changes [/changes/compare] Compare two moments or nights · [/changes/editors] Who edits most Changes, newest first No change matches. [/changes] Show all changes .',
  },
  '/changes/editors': {
    takes: 'Folder: its number',
    empty:
      'Who edits most Edits of alert rules that were known before. A name leads to what the person changed. ferry report edits_by_person --since 90d looks further back. People by number of edits No edit of a rule was seen in that time.',
  },
  '/firing/silenced': {
    empty:
      'Silenced while firing Rules that were disabled, removed or edited while firing, or within an hour after. Not every change was meant to silence an alert. The last 7 days, newest first No rule was disabled, removed or edited while it fired, or within an hour after.',
  },
  '/firing/never': {
    takes: 'Folder: its number',
    empty:
      'Never fired Enabled rules that were never seen firing, and for how long they were there and enabled, also while nothing was read. An alert that began and ended between two polls was not seen. Rules that never fired, by id There is no enabled rule that never fired.',
  },
  '/imports': {
    empty:
      'Imports All imports, the newest first No imports yet. ferry import FILE --page ID --dry-run shows what a file would send, without sending it.',
    narrowed: 'Imports All imports, the newest first No import matches. [/imports] Show all',
  },
  '/servers': {
    takes: 'Words: in the name, description or address, Team: its number',
    empty:
      'MCP servers MCP servers No MCP server is known. ferry sync mcp-servers reads them from the platform.',
    narrowed: 'MCP servers MCP servers No server matches. [/servers] Show all',
  },
  '/mcp/tools': {
    takes: 'Name or description: a part of it',
    empty:
      'MCP: tools Tools by name No tool is recorded. A server lists its tools once somebody has connected it.',
    narrowed: 'MCP: tools Tools by name No tool matches. [/mcp/tools] Show all',
  },
  '/mcp/changes': {
    empty:
      'MCP: tool changes A model reads the description of a tool as instructions. Check what was added. Servers whose tools changed, newest first No tool of a known server has changed. New and removed servers are under [/changes] Changes .',
  },
  '/mcp/risks': {
    empty:
      'MCP: risks Reasons Findings by reason, the gravest first No findings on current servers. Servers Possible risks, the gravest first Nothing was found that could be a risk. Ferry checked the [/servers] servers that it knows .',
  },
  '/mcp/teams': {
    empty:
      'MCP: teams Teams, those with the most servers first No MCP server is known. ferry sync mcp-servers reads them from the platform.',
  },
  '/ledger': {
    empty: 'Runs Runs, the newest first No run yet. ferry sync all starts the first one.',
    narrowed: 'Runs Runs, the newest first No run matches. [/ledger] Show all',
  },
  '/ledger/calls': {
    takes: 'Request id: the whole id, Run: its number',
    empty:
      'Calls Calls, newest first Ferry has not called the platform yet. ferry sync all makes the first calls.',
    narrowed: 'Calls Calls, newest first No call matches. [/ledger/calls] Show all',
  },
  '/ledger/snapshots': {
    empty:
      'Snapshots Nights, and snapshots taken by hand There are no snapshots. A worker takes one each night; ferry snapshots take takes one now.',
    narrowed:
      'Snapshots Nights, and snapshots taken by hand No snapshot matches. [/ledger/snapshots] Show all snapshots .',
  },
  '/ledger/holds': {
    empty:
      'Holds When too many rows are missing from a listing, Ferry keeps them all until a person decides. Open holds No removals wait for a decision. Ended No hold has ended yet.',
  },
  '/ledger/events': {
    empty:
      'Notifications No receiver is set, so Ferry sends no notifications. Set FERRY_WEBHOOK_URL or FERRY_RECEIVERS_FILE , then try it with ferry notify test . Events, the newest first No events yet. FERRY_WEBHOOK_URL sets the receiver, and ferry notify test tries it.',
    narrowed:
      'Notifications No receiver is set, so Ferry sends no notifications. Set FERRY_WEBHOOK_URL or FERRY_RECEIVERS_FILE , then try it with ferry notify test . Events, the newest first No event matches. [/ledger/events] Show all',
  },
  '/ledger/audit': {
    takes: 'Who: a part of the name',
    empty: 'Audit What people did by hand, the newest first No manual actions yet.',
    narrowed: 'Audit What people did by hand, the newest first Nothing matches. [/ledger/audit] Show all',
  },
}

let harness: ConsoleHarness
beforeAll(async () => {
  harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
})
afterAll(() => harness[Symbol.asyncDispose]())

test.each(Object.entries(WORDS))('%s', async (path, words) => {
  const { text } = await harness.page(path)
  const hints = [...text.matchAll(/<label>([^<]*?) <input [^>]*?placeholder="([^"]*)"/g)]
  const takes = hints.map(([, field, hint]) => `${field}: ${hint}`).join(', ')
  const of = await harness.page(`${path}?account=nobody`)
  const narrowed = wordsOf(of.text).replace('No account is named nobody . ', '')
  const found = { takes, empty: wordsOf(text), narrowed: of.status === 200 ? narrowed : '' }
  const { empty } = words
  expect(found).toEqual({ takes: '', narrowed: of.status === 200 ? empty : '', ...words })
})

test('no list is left out but that of schedules, which are always there', () => {
  const lists = PAGES.filter(page => page.csv).map(({ path }) => path)
  expect(lists.filter(path => !(path in WORDS))).toEqual(['/ledger/schedules'])
})

/** A page without its navigation, forms and markup, with where its links lead. */
function wordsOf(page: string): string {
  const [main = ''] = /<main.*?<\/main>/s.exec(page) ?? []
  return main
    .replaceAll(/<nav.*?<\/nav>|<form.*?<\/form>/gs, '')
    .replaceAll(/<a [^>]*href="([^"]*)"[^>]*>/g, '[$1] ')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
