import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { fillSmallStory } from '#test/support/small-story.ts'
import { stageRows } from '#test/support/staged.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { frameOf } from './whole-text.ts'

/* The whole text of each confirmation about a small story: what will happen, the button, and where the way back leads. */

let harness: ConsoleHarness
beforeAll(async () => {
  const { notify } = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1/' })
  harness = await openConsoleHarness({ config: { notify } }, { rules: 0, servers: 0 })
  await fillSmallStory(harness)
  await stageRows(harness.ferry.pool, {
    rows: 20,
    firstRows: 5,
    batchRows: 5,
    pageId: 98n,
    status: 'staging',
  })
  await harness.query(
    'update ferry.imports set read = read + 9, rejected = 2, duplicate = 3, suppressed = 4 where id = 3',
  )
  await harness.query(
    `insert into ferry.deliveries (event, receiver, kind, account, subject, data, at, attempts, failure, retry_at)
     select id, 'webhook', kind, account, subject, data, clock_timestamp() - interval '2 days', 9, 'HTTP 500', clock_timestamp()
     from ferry.events order by id limit 1`,
  )
})
afterAll(() => harness[Symbol.asyncDispose]())

const TEXTS: Readonly<Record<string, string>> = {
  '/imports/1/pause': `
Pause import 1? · Imports
Pause import 1?
No new calls start. No call is in flight.
1 row was sent, 2 are pending. Nothing is lost: resuming continues where it stopped.
Other imports of the same page do not wait for a paused one.
Why? Recorded in the audit log. Pause import 1 [/imports/1] Back
`,
  '/imports/1/cancel': `
Cancel import 1? · Imports
Cancel import 1?
2 rows will not be sent. A cancelled import cannot be resumed.
1 row was sent, and stays on page 5750613685214.
Calls in flight will finish and be counted.
The outcome of 2 rows is unknown. Ferry does not send them again; you can still mark them as sent afterwards.
To send the others later, import the file again: recipients that were already sent are left out.
Why? Recorded in the audit log. ! Cancel import 1 [/imports/1] Back
`,
  '/imports/1/resolve/resend': `
Send batch 2 with 2 rows again? · Imports
Send batch 2 with 2 rows again?
To page 5750613685214 of account default , by email , from people.csv . Import 1 got no definite answer to the call for batch 2, which has lines 4–5 of the file.
Do this if the platform does not have them, or if sending them twice does no harm. 2 rows will be sent again.
People who are already subscribed get the same settings again. This cannot be undone.
Why? Recorded in the audit log. Send 2 rows again [/imports/1] Back
`,
  '/imports/1/batches/2/sent': `
Mark batch 2 with 2 rows as sent? · Imports
Mark batch 2 with 2 rows as sent?
To page 5750613685214 of account default , by email , from people.csv . Import 1 got no definite answer to the call for batch 2, which has lines 4–5 of the file.
This records that the platform has them. 2 rows count as sent, and are not sent again.
This cannot be undone. If it is wrong, these people are not subscribed, and importing the same file leaves them out.
Why? Recorded in the audit log. ! Mark 2 rows as sent [/imports/1] Back
`,
  '/imports/1/batches/1/sent': `
Not done · Imports
Not done
(problem) Batch 1 of import 1 is not uncertain, so there is nothing to decide.
[/imports/1] Show it as it is now
`,
  '/imports/2/resume': `
Resume import 2? · Imports
Resume import 2?
Why it is paused: The platform answered Unauthorized (HTTP 401).
Check the app_key of this account; create a new one if it has expired.
To page 99 of account default , by email , from others.csv . 2 rows will be sent in 1 call: at once.
You can pause it again at any time. Ferry cannot take back what was sent.
Why? Recorded in the audit log. Resume import 2 [/imports/2] Back
`,
  '/imports/2/confirm': `
Not done · Imports
Not done
(problem) Import 2 is paused: it cannot be confirmed.
[/imports/2] Show it as it is now
`,
  '/imports/3/confirm': `
Confirm import 3? · Imports
Confirm import 3?
To page 98 of account default , by email , from test.csv . 20 rows will be sent in 4 calls: about SHORT at the rate limit.
After the first 5 rows it pauses. The rest is sent once somebody resumes it.
The file has 29 rows. Not sent: 2 rejected, 3 duplicate, 4 suppressed.
People are subscribed at once, without being asked. Ferry cannot take back what was sent.
Why? Recorded in the audit log. Send 20 rows [/imports/3] Back
`,
  '/imports/1/recipient': `
Recipient of import 1 · Imports
Recipient of import 1
Enter the whole recipient as it is in the file. Case does not matter. It appears in no URL and no log.
Recipient Look up [/imports/1] Back
`,
  '/ledger/holds/6/reject': `
Keep 12 of 14 alert rules in default? · Activity
Keep 12 of 14 alert rules in default?
The 12 alert rules stay as they are for as long as the platform does not list them. Ferry does not ask again about them. If another row vanishes before the platform lists these again, Ferry asks about that one, even if it is only one.
If they turn out to be gone after all, ferry sync with --accept-removals removes them.
Why? Recorded in the audit log. Keep 12 alert rules [/ledger/holds/6] Back
`,
  '/ledger/events/1/webhook/send': `
Send event 1 again? · Activity
Send event 1 again?
Account default: 1 alert rule was changed: 1. ferry rules show 1 shows its history.
The message to webhook is dead. It is sent again within seconds, under the same id: a receiver that keeps ids, and has it, leaves it out.
Why? Recorded in the audit log. Send again [/ledger/events] Back
`,
  '/ledger/schedules/poll-alert-rules/default/pause': `
Pause: poll-alert-rules of default? · Activity
Pause: poll-alert-rules of default?
It stops until somebody resumes it. A run in progress finishes as usual.
Until then changes of alert rules are found by the nightly snapshot only, and firings between two readings are not seen. The inventory gets older, and is shown as late.
Why? Recorded in the audit log. Pause [/ledger/schedules] Back
`,
  '/ledger/schedules/poll-alert-rules/default/run': `
Run now: poll-alert-rules of default? · Activity
Run now: poll-alert-rules of default?
It reads the alert rules of the account, and which of them fire.
A worker runs it once, within seconds. Its next time does not change: THEN .
If the same inventory is already being read, this run is skipped.
Why? Recorded in the audit log. Run now [/ledger/schedules] Back
`,
  '/ledger/schedules/snapshot-inventory/default/pause': `
Pause: snapshot-inventory of default? · Activity
Pause: snapshot-inventory of default?
It is already paused.
Why? Recorded in the audit log. Pause [/ledger/schedules] Back
`,
  '/ledger/schedules/snapshot-inventory/default/resume': `
Resume: snapshot-inventory of default? · Activity
Resume: snapshot-inventory of default?
It runs at its times again. If its last time was missed recently, it runs at once.
Why? Recorded in the audit log. Resume [/ledger/schedules] Back
`,
  '/ledger/schedules/snapshot-inventory/default/run': `
Run now: snapshot-inventory of default? · Activity
Run now: snapshot-inventory of default?
It reads both inventories of the account, and takes a snapshot of them.
A worker runs it once, within seconds. It stays paused after that.
If the same inventory is already being read, this run is skipped.
Why? Recorded in the audit log. Run now [/ledger/schedules] Back
`,
  '/ledger/schedules/poll-mcp-servers/default/pause': `
Pause: poll-mcp-servers of default? · Activity
Pause: poll-mcp-servers of default?
It stops until somebody resumes it. A run in progress finishes as usual.
Until then changes of MCP servers are found by the nightly snapshot only. The inventory gets older, and is shown as late.
Why? Recorded in the audit log. Pause [/ledger/schedules] Back
`,
  '/ledger/schedules/poll-mcp-servers/default/run': `
Run now: poll-mcp-servers of default? · Activity
Run now: poll-mcp-servers of default?
It reads the MCP servers of the account.
A worker runs it once, within seconds. Its next time does not change: THEN .
If the same inventory is already being read, this run is skipped.
Why? Recorded in the audit log. Run now [/ledger/schedules] Back
`,
  '/ledger/schedules/prune/*/pause': `
Pause: prune of all accounts? · Activity
Pause: prune of all accounts?
It stops until somebody resumes it. A run in progress finishes as usual.
Until then old rows stay, and the database grows.
Why? Recorded in the audit log. Pause [/ledger/schedules] Back
`,
  '/ledger/schedules/prune/*/resume': `
Resume: prune of all accounts? · Activity
Resume: prune of all accounts?
It is not paused: this changes nothing.
Why? Recorded in the audit log. Resume [/ledger/schedules] Back
`,
  '/ledger/schedules/prune/*/run': `
Run now: prune of all accounts? · Activity
Run now: prune of all accounts?
It removes rows that are older than the settings FERRY_KEEP_… allow. This cannot be undone.
A worker runs it once, within seconds. Its next time does not change: THEN .
If it is already running, this run is skipped.
Why? Recorded in the audit log. ! Run now [/ledger/schedules] Back
`,
  '/ledger/events': `
Notifications · Activity
Notifications
* [/ledger/events] Notifications (problem) In the last week 1 message to webhook was not accepted within a day. ferry notify test tries the receiver. A message that was not accepted within a day is dead: Ferry does not send it again by itself.
Account Event Message Since (UTC) Until (UTC) Filter Events, the newest first At Event What Message
[/ledger/events.csv] All rows as CSV
`,
  '/rules/default/3': `
Search shard · Rules
Search shard
Alert rule 3 of account default
(notice warn) It has been gone since [/at/THEN] THEN . Below is its last known state.
State
bad:removed
Fired last
never seen
Team
payments
Folder
[/rules?account=default&folder=7] 7 , [/changes?account=default&folder=7] its changes
Data source
mysql
Schedule
* * * * * no time zone
Delay, as given
120
Created by
Sam Whitfield
Last edited by
[/changes?by=Ada] Ada
This version since
[/at/THEN] 1 d 5 h ago
team : payments
History
Newest first When What Old to new By
`,
  '/imports/2': `
Import 2 · Imports · every 30 s
Import 2
warn:paused others.csv → page 99 of account default , by email
(notice warn) The platform answered Unauthorized (HTTP 401).
Check the app_key of this account; create a new one if it has expired.
Request id: [/ledger/calls?request_id=req-2] req-2
(notice) ferry imports resume 2 continues it, ferry imports cancel 2 ends it.
[/imports/2/resume] Resume ! [/imports/2/cancel] Cancel import 2
Sent
2 of 4 rows (50 %)
Batches sent
1 of 2
Calls
2
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Active for
SHORT
Rows
Rows by outcome What Rows Share Meaning
[/imports/2/recipient] Look up a recipient
Calls of the last hour
No import of account default made a call in the last hour.
Failed calls, by cause
The most frequent first Cause HTTP Calls Batches First Last Last request id
Batches
Which Filter Batches, last lines first Batch id Lines Rows State Calls Sent at Answer Request ids
`,
}

test.each(Object.entries(TEXTS))('%s', async (path, text) => {
  const { text: page } = await harness.page(path)
  // A time that was to come may have come.
  expect(`\n${frameOf(page).replace('change: [/at/THEN]', 'change:')}\n`).toBe(text)
})
