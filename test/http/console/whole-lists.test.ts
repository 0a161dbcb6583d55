import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { frameOf } from './whole-text.ts'

/* Each list of a small story without its rows, which are read in lists-oracle.test.ts: title, section, notices, fields, captions, columns. */

let harness: ConsoleHarness
beforeAll(async () => {
  harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
  await fillSmallStory(harness)
})
afterAll(() => harness[Symbol.asyncDispose]())

const FRAMES: Readonly<Record<string, string>> = {
  '/rules': `
Rules · Rules
Rules
Words Folder Team Label Firing Account State As of (UTC) Sort by Filter (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
Alert rules Rule Folder Team State Firing since Unchanged since Last edited by
[/rules.csv] All rows as CSV
`,
  '/changes': `
Changes · Changes
Changes
[/changes/compare] Compare two moments or nights · [/changes/editors] Who edits most
(notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ), the mcp-servers of account default (last read [/at/THEN] THEN ).
Since (UTC) Until (UTC) Person (of rules) Account Inventory Change Folder (of rules) Filter Changes, newest first Observed Change Rule or server Old to new By
[/changes.csv] All rows as CSV
`,
  '/changes/compare': `
Compare two moments · Changes
Compare two moments
From (UTC) To (UTC) Account Compare moments Choose two nights or two moments to see what differs.
`,
  '/changes/compare?from=3h': `
Compare two moments · Changes
Compare two moments
From (UTC) To (UTC) Account Compare moments From [/at/THEN] THEN to [/at/THEN] THEN , all accounts.
* [/changes/compare?from=3h&resource=alert-rules] Alert rules * [/changes/compare?from=3h] all What differs, by id
Nothing differs between the two moments.
`,
  '/changes/editors': `
Who edits most · Changes
Who edits most
Edits of alert rules that were known before. A name leads to what the person changed. ferry report edits_by_person --since 90d looks further back.
Account Folder The last Filter People by number of edits Person Account Edits Folders Last edit
[/changes/editors.csv] All rows as CSV
`,
  '/firing': `
Firing · Firing · every 60 s
Firing
* [/firing] Episodes * [/firing?hours=24] 24 hours (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
1 rule fired, in 1 episode. [#longest] 1 firing now .
Episodes of the last 24 hours (a bar is an episode, times in UTC)
[/rules/default/2] Refunds wait
not known: nothing was read
still firing
The same numbers as a table Rules that fired longest Rule Team Episodes Fired for State Changed
Firing longest now
Longest first Rule Since For
`,
  '/firing/noisy': `
Noisy rules · Firing
Noisy rules
* [/firing/noisy] Noisy rules * [/firing/noisy?hours=168] 7 days (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
A flap is an episode that began within ten minutes of the end of the one before. Night is from 22:00 to 07:00 in the rule’s own time zone.
Rules with the most episodes in the last 7 days Rule Team Episodes Flaps At night Fired for Last began
`,
  '/firing/when': `
Weekday and hour · Firing
Weekday and hour
* [/firing/when] Weekday and hour * [/firing/when?hours=672] 4 weeks (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
When the episodes of the last 4 weeks began (episodes)
0
1
Each cell is an hour in UTC: 8 is from 08:00 to 09:00. Nothing was read before [/at/THEN] THEN : until then, 0 means not known.
The same numbers as a table When the episodes of the last 4 weeks began Weekday 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23
`,
  '/firing/silenced': `
Silenced while firing · Firing
Silenced while firing
* [/firing/silenced] Silenced while firing * [/firing/silenced?hours=168] 7 days (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
Rules that were disabled, removed or edited while firing, or within an hour after. Not every change was meant to silence an alert.
The last 7 days, newest first
No rule was disabled, removed or edited while it fired, or within an hour after.
`,
  '/firing/never': `
Never fired · Firing
Never fired
* [/firing/never] Never fired (notice warn) What is shown may not be so any more. Older than their freshness target are the alert-rules of account default (last read [/at/THEN] THEN ).
Enabled rules that were never seen firing, and for how long they were there and enabled, also while nothing was read. An alert that began and ended between two polls was not seen.
Account Folder Filter Rules that never fired, by id Rule Folder Team First seen Observed for Last edited by
[/firing/never.csv] All rows as CSV
`,
  '/servers': `
MCP servers · MCP
MCP servers
* [/servers] Servers Words Team Account State As of (UTC) Sort by Filter (notice warn) What is shown may not be so any more. Older than their freshness target are the mcp-servers of account default (last read [/at/THEN] THEN ).
MCP servers Server Account Team State Transport Sign-in Tools Unchanged since
[/servers.csv] All rows as CSV
`,
  '/mcp/tools': `
MCP: tools · MCP
MCP: tools
* [/mcp/tools] Tools Account Name or description Filter Tools by name Tool Server Account Description
[/mcp/tools.csv] All rows as CSV
`,
  '/mcp/changes': `
MCP: tool changes · MCP
MCP: tool changes
* [/mcp/changes] Tool changes A model reads the description of a tool as instructions. Check what was added.
Account Since (UTC) Until (UTC) Filter Servers whose tools changed, newest first Observed Server Old to new
[/mcp/changes.csv] All rows as CSV
`,
  '/mcp/risks': `
MCP: risks · MCP
MCP: risks
* [/mcp/risks] Risks Reasons
Findings by reason, the gravest first Severity Reason Found Meaning
Servers
Account Reason Filter Possible risks, the gravest first Severity Server Account Team Reason Tool Found
[/mcp/risks.csv] All rows as CSV
`,
  '/mcp/teams': `
MCP: teams · MCP
MCP: teams
* [/mcp/teams] Teams Teams, those with the most servers first Team Account Servers Enabled Tools Shared sign-in Last change
[/mcp/teams.csv] All rows as CSV
`,
  '/imports': `
Imports · Imports · every 15 s
Imports
Waiting for a decision Import File Status Why Decide
Status Filter All imports, the newest first Import File Page Account Status Sent Other Created
[/imports.csv] All rows as CSV
`,
  '/ledger': `
Runs · Activity
Runs
* [/ledger] Runs Account Inventory Status Since (UTC) Until (UTC) Filter Runs, the newest first Run Inventory Status Started Took Seen Added Changed Removed Notes
[/ledger.csv] All rows as CSV
`,
  '/ledger/calls': `
Calls · Activity
Calls
* [/ledger/calls] Calls Request id Account Operation Outcome Since (UTC) Until (UTC) Run Filter Calls, newest first Started Account Operation Took HTTP Error Request id For
[/ledger/calls.csv] All rows as CSV
`,
  '/ledger/schedules': `
Schedules · Activity · every 30 s
Schedules
* [/ledger/schedules] Schedules What Ferry does automatically, and when, for the accounts in the settings of this worker.
Schedules Schedule Account When Last Outcome Runs Next Decide
[/ledger/schedules.csv] All rows as CSV
`,
  '/ledger/snapshots': `
Snapshots · Activity
Snapshots
* [/ledger/snapshots] Snapshots Account Status Filter Nights, and snapshots taken by hand
There are no snapshots. A worker takes one each night; ferry snapshots take takes one now.
`,
  '/ledger/holds': `
Holds · Activity · every 30 s
Holds
* [/ledger/holds] Holds When too many rows are missing from a listing, Ferry keeps them all until a person decides.
Open holds Account Inventory Rows Since Decide
Ended
No hold has ended yet.
`,
  '/ledger/events': `
Notifications · Activity
Notifications
* [/ledger/events] Notifications (notice) No receiver is set, so Ferry sends no notifications. Set FERRY_WEBHOOK_URL or FERRY_RECEIVERS_FILE , then try it with ferry notify test .
Account Event Message Since (UTC) Until (UTC) Filter Events, the newest first At Event What Message
[/ledger/events.csv] All rows as CSV
`,
  '/ledger/audit': `
Audit · Activity
Audit
* [/ledger/audit] Audit Account Who Did Since (UTC) Until (UTC) Filter What people did by hand, the newest first When Who Did Target Rows Account Because
[/ledger/audit.csv] All rows as CSV
`,
  '/search': `
Search · Now
Search
Type a whole id: of a rule, a server, an import, a run or a request. Or type words: of a rule's name or labels, of a server's name, description or address, of an import's file. A removed rule is found by its id.
`,
}

test.each(Object.entries(FRAMES))('%s', async (path, frame) => {
  expect(`\n${frameOf((await harness.page(path)).text)}\n`).toBe(frame)
})

test.for([
  [
    '/ledger',
    '/ledger Runs, /ledger/calls Calls, /ledger/schedules Schedules, /ledger/snapshots Snapshots, /ledger/holds Holds, /ledger/events Notifications, /ledger/audit Audit',
  ],
  [
    '/firing',
    '/firing Episodes, /firing/noisy Noisy rules, /firing/when Weekday and hour, /firing/silenced Silenced while firing, /firing/never Never fired, /firing/load Load by minute',
  ],
  [
    '/servers',
    '/servers Servers, /mcp/tools Tools, /mcp/changes Tool changes, /mcp/risks Risks, /mcp/teams Teams',
  ],
  [
    '/changes?since=7d&folder=7',
    '/changes?folder=7&since=1h 1 hour, /changes?folder=7&since=24h 24 hours, /changes?folder=7&since=7d 7 days',
  ],
] as const)('the links between parts of %s are in their order', async ([path, links]) => {
  const { text } = await harness.page(path)
  const [, nav = ''] = /<main.*?<nav[^>]*>(.*?)<\/nav>/s.exec(text) ?? []
  const found = [...nav.matchAll(/<a href="([^"]*)"[^>]*>(.*?)<\/a>/g)]
  expect(found.map(([, to = '', words]) => `${to.replaceAll('&amp;', '&')} ${words}`).join(', ')).toBe(links)
})
