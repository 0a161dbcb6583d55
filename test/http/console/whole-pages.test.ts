import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillSmallStory } from '#test/support/small-story.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

/* The whole text of a page about a small story, with where its links lead: each word, column, order and unit. */

let harness: ConsoleHarness
beforeAll(async () => {
  harness = await openConsoleHarness({}, { rules: 0, servers: 0 })
  await fillSmallStory(harness)
})
afterAll(() => harness[Symbol.asyncDispose]())

const TEXTS: Readonly<Record<string, string>> = {
  '/rules/default/1': `
Checkout p99 latency
Alert rule 1 of account default
State
good:enabled
Fired last
never seen
Team
payments
Folder
[/rules?account=default&folder=7] 7 , [/changes?account=default&folder=7] its changes
Data source
prometheus
Schedule
* * * * * America/New_York
Delay, as given
300
Created by
Mateusz Nowak
Last edited by
[/changes?by=Eve] Eve
This version since
[/at/THEN] 5 h N min ago
team : payments
History
Newest first When What Old to new By
[/at/THEN] 5 h N min ago quiet:changed delay_seconds
0 → 300
Eve [/ledger/runs/3] run 3
[/at/THEN] 1 d 5 h ago quiet:first reading [/ledger/runs/1] run 1
`,
  '/servers/default/1': `
Orders
MCP server 1 of account default
State
good:enabled
Risks
warn:medium [/mcp/risks?account=default&reason=tool+count+differs] tool count differs quiet:low [/mcp/risks?account=default&reason=shared+credentials] shared credentials
Team
5120000000003
May be edited with the key
yes
Description
Repositories, issues and pull requests
Transport
stdio
Address
https://mcp.example.com/orders
Timeout to connect, as given
10
Timeout of a call, as given
30
Sign-in
shared
Created by (id)
2476444212565
This version since
[/at/THEN] 5 h N min ago
Tools
Recorded tools: 1 Tool What it does
list_orders Does list_orders.
History
Newest first When What Old to new By
[/at/THEN] 5 h N min ago quiet:changed tools.refund_order
Does refund_order. → none
[/ledger/runs/4] run 4
[/at/THEN] 1 d 5 h ago quiet:first reading [/ledger/runs/2] run 2
`,
  '/imports/1': `
Import 1
good:running people.csv → page 5750613685214 of account default , by email
(notice) No worker is processing this import: start ferry worker if none is running .
[/imports/1/pause] Pause ! [/imports/1/resolve/sent] Mark uncertain rows as sent [/imports/1/resolve/resend] Send uncertain rows again ! [/imports/1/cancel] Cancel import 1
Sent
1 of 5 rows (20 %)
Rate
unknown so far
Time left
unknown so far
Batches sent
1 of 3
Calls
3
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
a person decides
Created
[/at/THEN] THEN
Active for
3 h N min
Rows
Rows by outcome What Rows Share Meaning
Sent 1 17 % The platform has them.
Pending 2 33 % Still to be sent.
Uncertain 2 33 % The call got no definite answer.
Rejected 1 17 % Rejected when the file was checked, or by the platform.
Duplicate 0 0 % The recipient is also earlier in the file.
Suppressed 0 0 % Left out because of the file or --suppress.
Already imported 0 0 % Another import sent them to this page.
Sum 6 100 % 6 were read: every row is accounted for.
[/imports/1/recipient] Look up a recipient
Uncertain batches
The call for each of these batches got no definite answer, so the platform may have the rows. Check there whether the people of these lines are subscribed, then decide.
Uncertain: 2 rows Batch id Lines Rows State Calls Sent at Answer Request ids Decide
2 4–5 2 warn:uncertain 1 call began at [/at/THEN] THEN NoAnswer – ! [/imports/1/batches/2/sent] mark as sent or [/imports/1/batches/2/resend] send again
Calls of the last hour
No import of account default made a call in the last hour.
Rows not sent, and why
Reasons Rows What By Reason
1 rejected platform refused by the platform
ferry imports rejects 1 --out rejects.csv writes the rejected rows to a file. Correct it, then import it.
Failed calls, by cause
The most frequent first Cause HTTP Calls Batches First Last Last request id
NoAnswer no answer 1 1 [/at/THEN] THEN [/at/THEN] THEN –
InvalidParameter 400 1 1 [/at/THEN] THEN [/at/THEN] THEN [/ledger/calls?request_id=req-2] req-2
Batches
Which * all
not sent
uncertain
Filter Batches, last lines first Batch id Lines Rows State Calls Sent at Answer Request ids
2 4–5 2 warn:uncertain 1 call began at [/at/THEN] THEN NoAnswer –
1 2–3 1 good:sent 2 [/at/THEN] THEN HTTP 200 [/ledger/calls?request_id=req-2] req-2 [/ledger/calls?request_id=req-1] req-1
`,
  '/imports/2/cancel': `
Cancel import 2?
2 rows will not be sent. A cancelled import cannot be resumed.
2 rows were sent, and stay on page 99.
Calls in flight will finish and be counted.
To send the others later, import the file again: recipients that were already sent are left out.
Why? Recorded in the audit log. ! Cancel import 2 [/imports/2] Back
`,
  '/ledger/runs/5': `
Run 5
* [/ledger] Runs (notice) Run 6 has listed the inventory completely since: nothing is left to do.
(problem) The platform answered Unauthorized (HTTP 401): The key is unknown. Check the app_key of account default (FERRY_APP_KEY); create a new one if it has expired.
Account
default
Inventory
alert-rules
Status
bad:failed
Trigger
manual
Started
[/at/THEN] THEN
Finished
[/at/THEN] THEN
Took
SHORT
Error
Unauthorized
Request id
[/ledger/calls?request_id=REQUEST] REQUEST
Rows
Seen
0
Added
0
Changed
0
Removed
0
Unchanged
0
Quarantined
0
Began to fire
0
Cleared
0
Calls
1
Pages
0
Calls
Last calls of this run, newest first Started Operation Took HTTP Error Request id
[/at/THEN] 3 h N min ago list-alert-rules SHORT 401 Unauthorized [/ledger/calls?request_id=REQUEST] REQUEST
`,
  '/ledger/holds/6': `
Removals held: alert-rules of default
* [/ledger/holds] Holds (notice warn) The platform no longer lists 12 of 14 alert rules that Ferry stores. None of these is firing now. Decide whether to remove them.
! [/ledger/holds/6/approve] They are gone: remove them [/ledger/holds/6/reject] They are not gone: keep them
State
warn:open
Account
default
Inventory
alert-rules
Rows
12
First missing
[/at/THEN] THEN , [/ledger/runs/6] run 6
Folders that would lose the most Folder Would be removed Current
7 12 14
Rows that would be removed Name Id State Folder Team Last edited by
[/rules/default/4] Nightly job 4 4 good:enabled 7 payments Ada
[/rules/default/5] Nightly job 5 5 good:enabled 7 payments Ada
[/rules/default/6] Nightly job 6 6 good:enabled 7 payments Ada
[/rules/default/7] Nightly job 7 7 good:enabled 7 payments Ada
[/rules/default/8] Nightly job 8 8 good:enabled 7 payments Ada
[/rules/default/9] Nightly job 9 9 good:enabled 7 payments Ada
[/rules/default/10] Nightly job 10 10 good:enabled 7 payments Ada
[/rules/default/11] Nightly job 11 11 good:enabled 7 payments Ada
[/rules/default/12] Nightly job 12 12 good:enabled 7 payments Ada
[/rules/default/13] Nightly job 13 13 good:enabled 7 payments Ada
[/rules/default/14] Nightly job 14 14 good:enabled 7 payments Ada
[/rules/default/15] Nightly job 15 15 good:enabled 7 payments Ada
`,
  '/ledger/holds/6/approve': `
Remove 12 of 14 alert rules in default?
Ferry reads the inventory again. It removes those of the 12 alert rules that are still missing, if two listings agree. Other missing rows stay.
None of these is firing now.
Removed rows keep their history. They come back only if the platform lists them again.
This may take minutes. You can leave the page.
Why? Recorded in the audit log. ! Remove 12 alert rules [/ledger/holds/6] Back
`,
}

test.each(Object.entries(TEXTS))('%s', async (path, text) => {
  expect(`\n${textOf((await harness.page(path)).text)}\n`).toBe(text)
})
