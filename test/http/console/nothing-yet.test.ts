import { expect, test } from 'vitest'
import { PAGES } from '#src/http/console/pages.ts'
import { openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

/** What each page says in place of rows before anything was read, and lists that are narrowed too. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  '/': [
    'Freshness: No inventory has been read yet. A worker reads them when it starts; ferry sync all reads them now.',
    'Workers: No worker is known. ferry up or ferry worker starts one.',
    'Calls of the last hour: No calls to the platform in the last hour.',
  ],
  '/search': [],
  '/rules': ['Alert rules: No rule is known. ferry sync alert-rules reads them from the platform.'],
  '/changes': [
    'Changes, newest first: Nothing has been read yet. ferry sync all reads both inventories now.',
  ],
  '/changes/compare': [],
  '/changes/editors': ['People by number of edits: No edit of a rule was seen in that time.'],
  '/firing': [
    'Episodes: No rule was seen firing in the last 24 hours. [/] Now shows whether the alert rules are fresh; a longer period shows older episodes.',
    'Longest first: No rule is firing. [/] Now shows whether the alert rules are fresh.',
  ],
  '/firing/noisy': [
    'Rules with the most episodes in the last 7 days: No rule was seen firing in the last 7 days.',
  ],
  '/firing/when': [
    'When episodes begin: No episode was seen to begin in the last 4 weeks. [/] Now shows whether the alert rules are fresh.',
  ],
  '/firing/silenced': [
    'The last 7 days, newest first: No rule was disabled, removed or edited while it fired, or within an hour after.',
  ],
  '/firing/never': ['Rules that never fired, by id: There is no enabled rule that never fired.'],
  '/firing/load': [
    'Load by minute: Account default has no enabled rule whose schedule can be read. ferry sync alert-rules reads the rules now.',
  ],
  '/imports': [
    'All imports, the newest first: No imports yet. ferry import FILE --page ID --dry-run shows what a file would send, without sending it.',
  ],
  '/servers': ['MCP servers: No MCP server is known. ferry sync mcp-servers reads them from the platform.'],
  '/mcp/tools': [
    'Tools by name: No tool is recorded. A server lists its tools once somebody has connected it.',
  ],
  '/mcp/changes': [
    'Servers whose tools changed, newest first: No tool of a known server has changed. New and removed servers are under [/changes] Changes .',
  ],
  '/mcp/risks': [
    'Findings by reason, the gravest first: No findings on current servers.',
    'Possible risks, the gravest first: Nothing was found that could be a risk. Ferry checked the [/servers] servers that it knows .',
  ],
  '/mcp/teams': [
    'Teams, those with the most servers first: No MCP server is known. ferry sync mcp-servers reads them from the platform.',
  ],
  '/ledger': ['Runs, the newest first: No run yet. ferry sync all starts the first one.'],
  '/ledger/calls': [
    'Calls, newest first: Ferry has not called the platform yet. ferry sync all makes the first calls.',
  ],
  '/ledger/schedules': [],
  '/ledger/snapshots': [
    'Nights, and snapshots taken by hand: There are no snapshots. A worker takes one each night; ferry snapshots take takes one now.',
  ],
  '/ledger/holds': ['Open holds: No removals wait for a decision.', 'Ended: No hold has ended yet.'],
  '/ledger/events': [
    'Events, the newest first: No events yet. FERRY_WEBHOOK_URL sets the receiver, and ferry notify test tries it.',
  ],
  '/ledger/audit': ['What people did by hand, the newest first: No manual actions yet.'],
  '/rules?account=default': ['Alert rules: No rule matches. [/rules] Show all'],
  '/changes?account=default': ['Changes, newest first: No change matches. [/changes] Show all changes .'],
  '/changes/editors?account=default': ['People by number of edits: No edit of a rule was seen in that time.'],
  '/changes/compare?from=1h&kind=added': ['What differs, by id: Nothing was added.'],
  '/changes/compare?from=1h&kind=first+reading': ['What differs, by id: No first reading.'],
  '/firing?hours=1': [
    'Episodes: No rule was seen firing in the last 1 hour. [/] Now shows whether the alert rules are fresh; a longer period shows older episodes.',
    'Longest first: No rule is firing. [/] Now shows whether the alert rules are fresh.',
  ],
  '/firing/noisy?hours=1': [
    'Rules with the most episodes in the last 1 hour: No rule was seen firing in the last 1 hour.',
  ],
  '/firing/when?hours=168': [
    'When episodes begin: No episode was seen to begin in the last 7 days. [/] Now shows whether the alert rules are fresh.',
  ],
  '/firing/silenced?hours=24': [
    'The last 24 hours, newest first: No rule was disabled, removed or edited while it fired, or within an hour after.',
  ],
  '/firing/never?account=default': [
    'Rules that never fired, by id: There is no enabled rule that never fired.',
  ],
  '/servers?account=default': ['MCP servers: No server matches. [/servers] Show all'],
  '/mcp/tools?account=default': ['Tools by name: No tool matches. [/mcp/tools] Show all'],
  '/mcp/changes?account=default': [
    'Servers whose tools changed, newest first: No tool of a known server has changed. New and removed servers are under [/changes] Changes .',
  ],
  '/mcp/risks?account=default': [
    'Findings by reason, the gravest first: No findings on current servers.',
    'Possible risks, the gravest first: Nothing was found that could be a risk. Ferry checked the [/servers] servers that it knows .',
  ],
  '/imports?status=running': ['All imports, the newest first: No import matches. [/imports] Show all'],
  '/ledger?status=held': ['Runs, the newest first: No run matches. [/ledger] Show all'],
  '/ledger/calls?account=default': ['Calls, newest first: No call matches. [/ledger/calls] Show all'],
  '/ledger/calls?refused=yes': ['Calls, newest first: No refused calls.'],
  '/ledger/calls?run=7': [
    'Calls, newest first: No call matches. Ferry removes calls after FERRY_KEEP_CALLS , but for those of imports. [/ledger/calls] Show all calls',
  ],
  '/ledger/calls?request_id=x': [
    'Calls, newest first: No call has this request id. Ferry logs only its own calls, and removes them after FERRY_KEEP_CALLS .',
  ],
  '/ledger/calls?refused=yes&account=default': [
    'Calls, newest first: No call matches. [/ledger/calls] Show all',
  ],
  '/ledger/calls?refused=yes&since=1h': [
    'Calls, newest first: No call matches. Ferry removes calls after FERRY_KEEP_CALLS , but for those of imports. [/ledger/calls] Show all calls',
  ],
  '/ledger/snapshots?status=held': [
    'Nights, and snapshots taken by hand: No snapshot matches. [/ledger/snapshots] Show all snapshots .',
  ],
  '/ledger/events?delivery=dead': ['Events, the newest first: No event matches. [/ledger/events] Show all'],
  '/ledger/audit?action=sync': [
    'What people did by hand, the newest first: Nothing matches. [/ledger/audit] Show all',
  ],
  '/search?q=x': [
    "With these words: Nothing found. Type a whole id: of a rule, a server, an import, a run or a request. Or type words: of a rule's name or labels, of a server's name, description or address, of an import's file. A removed rule is found by its id.",
  ],
}

test('where there is nothing, each page says what that means and what comes next', async () => {
  await using harness = await openConsoleHarness()
  const found: Record<string, string[]> = {}
  for (const path of Object.keys(WORDS)) {
    const { text } = await harness.page(path)
    const empty = text.matchAll(/<div class="empty"><p class="caption">(.*?)<\/p><p>(.*?)<\/p><\/div>/gs)
    found[path] = [...empty].map(([, caption = '', words = '']) => `${caption}: ${textOf(words)}`)
  }
  expect(found).toEqual(WORDS)
  const known = PAGES.map(({ path }) => path).filter(path => !path.includes(':'))
  expect(known.filter(path => !(path in WORDS))).toEqual([])
})
