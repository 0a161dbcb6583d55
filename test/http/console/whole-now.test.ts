import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

/* The whole text of the pages that bring a small story together: now, at a moment, and what was searched for. */

const hoursAgo = (hours: number) => new Date(Date.now() - hours * 3_600_000).toISOString()

let harness: ConsoleHarness
beforeAll(async () => {
  harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
  await fillSmallStory(harness)
})
afterAll(() => harness[Symbol.asyncDispose]())

const TEXTS: Readonly<Record<string, readonly [address: string, text: string]>> = {
  now: [
    '/',
    `
Now
(verdict bad) bad:Needs attention No worker is alive, 2 of 2 inventories are late, the last call of [/imports/1] import 1 failed, 2 decisions wait, one schedule is paused, and [/imports/1] import 1 has sent 1 of 5 rows.
Pending decisions What Account Why
[/ledger/holds/6] Removals of alert-rules default 12 alert rules missing from the listing since [/at/THEN] THEN . Remove or keep?
[/imports/2] Import 2 warn:paused default The platform answered Unauthorized (HTTP 401).
Freshness Account Inventory State Age Target Last read Why it is late
default alert-rules bad:late 3 h N min 3 min [/at/THEN] 3 h N min ago [/ledger/runs/6] run 6 no worker has this account: start ferry worker with account default in its settings.
default mcp-servers bad:late 5 h N min 3 min [/at/THEN] 5 h N min ago [/ledger/runs/4] run 4 no worker has this account: start ferry worker with account default in its settings.
Workers
No worker is known. ferry up or ferry worker starts one.
Schedules Schedule Account Last Outcome Next
snapshot-inventory default never quiet:never run warn:paused
[/ledger/schedules] All schedules: pause, resume, run now
3 schedules neither failed nor paused Schedules Schedule Account Last Outcome Next
poll-alert-rules default never quiet:never run THEN
poll-mcp-servers default never quiet:never run THEN
prune all never quiet:never run THEN
[/ledger/schedules] All schedules: pause, resume, run now
Calls of the last hour
No calls to the platform in the last hour.
Blind spots of the last day Account Inventory Late from Until Error
default alert-rules [/at/THEN] 3 h N min ago bad:still late –
default mcp-servers [/at/THEN] 5 h N min ago bad:still late –
default alert-rules [/at/THEN] 5 h N min ago [/at/THEN] 3 h N min ago Unauthorized
default mcp-servers [/at/THEN] 1 d 5 h ago [/at/THEN] 5 h N min ago –
default alert-rules [/at/THEN] 1 d 5 h ago [/at/THEN] 5 h N min ago –
`,
  ],
  'a moment': [
    `/at/${hoursAgo(3.2)}`,
    `
At THEN
What was observed one hour before and after. [/at/THEN] ← earlier [/at/THEN] later →
Before and after * one hour
15 minutes
one hour
6 hours
one day
Account * all
default
Folder (of rules) Team (of rules) Words Filter (notice warn) Nothing is known of this moment: alert-rules of account default were not read completely from [/at/THEN] THEN to [/at/THEN] THEN (Unauthorized).
(notice warn) Nothing is known of this moment: mcp-servers of account default were not read completely from [/at/THEN] THEN to now .
What is known of this time (a bar is a firing, the line is the moment, times in UTC)
alert-rules of default 2 times not known
mcp-servers of default 1 time not known
[/rules/default/2] Refunds wait alert rule 2 in default
not known: nothing was read
still firing
The same numbers as a table Times that are not known Account Inventory From To
default alert-rules [/at/THEN] THEN [/at/THEN] THEN
default alert-rules [/at/THEN] THEN now
default mcp-servers [/at/THEN] THEN now
Firing at that moment, the longest first Rule For Began Ended Team State
[/rules/default/2] Refunds wait alert rule 2 in default 1 h N min [/at/THEN] THEN still firing payments quiet:not known: it fired before
What happened, in the order in which it was observed Not before Observed What About Details By
[/at/THEN] THEN [/at/THEN] THEN [/ledger/runs/6] run 6 bad:nothing was read alert-rules of default error_code: Unauthorized
[/at/THEN] THEN [/at/THEN] THEN [/ledger/runs/6] run 6 warn:removals held alert-rules of default rows: 12
[/at/THEN] THEN quiet:decision confirm import 1 in default ada@laptop
[/at/THEN] THEN quiet:import started [/imports/1] people.csv 1 in default
[/at/THEN] THEN quiet:decision confirm import 2 in default ada@laptop
[/at/THEN] THEN quiet:import started [/imports/2] others.csv 2 in default
[/at/THEN] THEN quiet:decision pause schedule snapshot-inventory in default because: the platform is upgraded sam@laptop
[/at/THEN] THEN now bad:nothing was read alert-rules of default
[/at/THEN] THEN now bad:nothing was read mcp-servers of default
`,
  ],
  'a moment that is still to come': [
    '/at/2125-01-01T00:00:00Z',
    `
At THEN
What was observed one hour before and after. [/at/THEN] ← earlier [/at/THEN] later →
Before and after * one hour
15 minutes
one hour
6 hours
one day
Account * all
default
Folder (of rules) Team (of rules) Words Filter (notice warn) This moment is in the future: nothing is known of it. [/] Now shows what is known.
`,
  ],
  'a search that finds nothing': [
    '/search?q=nothing',
    `
Search: nothing
With these words
Nothing found. Type a whole id: of a rule, a server, an import, a run or a request. Or type words: of a rule's name or labels, of a server's name, description or address, of an import's file. A removed rule is found by its id.
`,
  ],
  'a search for a number': [
    '/search?q=4',
    `
Search: 4
With exactly this id What Name Id Account Since
alert rule [/rules/default/4] Nightly job 4 4 default [/at/THEN] 1 d 5 h ago
run [/ledger/runs/4] mcp-servers 4 default [/at/THEN] 5 h N min ago
With these words What Name Id Account Since
alert rule [/rules/default/14] Nightly job 14 14 default [/at/THEN] 1 d 5 h ago
alert rule [/rules/default/4] Nightly job 4 4 default [/at/THEN] 1 d 5 h ago
`,
  ],
  'a search for a word': [
    '/search?q=orders',
    `
Search: orders
With these words What Name Id Account Since
MCP server [/servers/default/1] Orders 1 default [/at/THEN] 5 h N min ago
`,
  ],
}

test.each(Object.entries(TEXTS))('%s', async (_, [address, text]) => {
  expect(steady(`\n${textOf((await harness.page(address)).text)}\n`)).toBe(steady(text))
})

/** Which schedule is due next depends on what time it is. */
function steady(page: string): string {
  return page
    .replaceAll('never run [/at/THEN]', 'never run')
    .replace(/(?:.* never run THEN\n)+/, rows => `${rows.trimEnd().split('\n').sort().join('\n')}\n`)
}

test('a moment is shown if all of its time is in the history, and else it is said where that starts', async () => {
  await harness.query(`insert into ferry.history (starts_at) values (now() - interval '2 days')`)
  const asked = async (hours: number) => textOf((await harness.page(`/at/${hoursAgo(hours)}`)).text)
  expect(await asked(46.9)).toContain('What happened, in the order in which it was observed')
  const [, said = ''] = (await asked(47.1)).split(' Filter ')
  expect(said).toBe(
    '(notice warn) The history starts at [/at/THEN] THEN : what ended before was removed, as FERRY_KEEP_VERSIONS says.',
  )
})

test('the steps of a moment lead as far before and after it as is shown, and keep what was asked for', async () => {
  const { text } = await harness.page('/at/2026-01-01T12:00:00.500Z?minutes=15&account=default')
  const steps = text.matchAll(/<a href="(\/at\/[^"]*)">([^<]*)<\/a>/g)
  expect([...steps].map(([, to = '', words]) => `${words} ${to.replaceAll('&amp;', '&')}`)).toEqual([
    '← earlier /at/2026-01-01T11:45:00.500Z?minutes=15&account=default',
    'later → /at/2026-01-01T12:15:00.500Z?minutes=15&account=default',
    'Show all /at/2026-01-01T12:00:00.500Z',
  ])
  expect(text).toContain('<title>At 2026-01-01 12:00:00.5Z · Ferry</title>')
})
