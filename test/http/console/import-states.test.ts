import { expect, test } from 'vitest'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'
import { stageRows } from '#test/support/staged.ts'
import { openConsoleHarness } from './console-harness.ts'
import { frameOf } from './whole-text.ts'

/** What stands above the rows of an import in each state: how often the page looks again, why it waits, what may be decided, its facts. */
const TOPS: Readonly<Record<ImportStatus, string>> = {
  staging: `
Import ID · Imports · every 30 s
Import ID
warn:to confirm people.csv → page 900 of account default , by email
(notice warn) Its file has been checked. Nothing is sent until you confirm it. The import is deleted at THEN unless it is confirmed.
(notice) ferry imports cancel ID ends it.
[/imports/ID/confirm] Confirm ! [/imports/ID/cancel] Cancel import ID
Sent
0 of 6 rows (0 %)
Batches sent
0 of 3
Calls
0
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Active for
SHORT
`,
  queued: `
Import ID · Imports · every 10 s
Import ID
quiet:queued people.csv → page 901 of account default , by email
(notice) No worker is processing this import: start ferry worker if none is running .
[/imports/ID/pause] Pause ! [/imports/ID/cancel] Cancel import ID
Sent
0 of 6 rows (0 %)
Rate
unknown so far
Time left
unknown so far
Batches sent
0 of 3
Calls
0
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Active for
SHORT
`,
  running: `
Import ID · Imports · every 10 s
Import ID
good:running people.csv → page 902 of account default , by email
(notice) No worker is processing this import: start ferry worker if none is running .
[/imports/ID/pause] Pause ! [/imports/ID/cancel] Cancel import ID
Sent
0 of 6 rows (0 %)
Rate
unknown so far
Time left
unknown so far
Batches sent
0 of 3
Calls
0
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Active for
SHORT
`,
  paused: `
Import ID · Imports · every 30 s
Import ID
warn:paused people.csv → page 903 of account default , by email
(notice warn) A person paused it.
(notice) ferry imports resume ID continues it, ferry imports cancel ID ends it.
[/imports/ID/resume] Resume ! [/imports/ID/cancel] Cancel import ID
Sent
0 of 6 rows (0 %)
Batches sent
0 of 3
Calls
0
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Active for
SHORT
`,
  undecided: `
Import ID · Imports · every 30 s
Import ID
warn:undecided people.csv → page 904 of account default , by email
(notice warn) No definite answer came for 6 rows: the platform may have them. Check the platform, then decide.
(notice) ferry imports resolve ID --as sent marks the uncertain rows as sent, ferry imports resolve ID --as resend sends them again, ferry imports cancel ID ends it.
! [/imports/ID/resolve/sent] Mark uncertain rows as sent [/imports/ID/resolve/resend] Send uncertain rows again ! [/imports/ID/cancel] Cancel import ID
Sent
0 of 6 rows (0 %)
Batches sent
0 of 3
Calls
3
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
a person decides
Created
[/at/THEN] THEN
Active for
SHORT
`,
  completed: `
Import ID · Imports
Import ID
good:completed people.csv → page 905 of account default , by email
Sent
6 of 6 rows (100 %)
Batches sent
3 of 3
Calls
3
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Ended
[/at/THEN] THEN
Took
SHORT
`,
  cancelled: `
Import ID · Imports
Import ID
quiet:cancelled people.csv → page 906 of account default , by email
Sent
0 of 6 rows (0 %)
Batches sent
0 of 0
Calls
0
Limit
2 calls in SHORT, 20 calls in 1 min
After an uncertain outcome
sent again
Created
[/at/THEN] THEN
Ended
[/at/THEN] THEN
Took
SHORT
`,
}

test('the page of an import says in each of its states what it waits for, and what may be decided', async () => {
  await using harness = await openConsoleHarness()
  const found: Record<string, string> = {}
  for (const [n, status] of IMPORT_STATUSES.entries()) {
    const file = { rows: 6, batchRows: 2, pageId: BigInt(900 + n), file: 'people.csv' }
    const id = await stageRows(harness.ferry.pool, { ...file, status })
    const { text } = await harness.page(`/imports/${id}`)
    const [top = ''] = frameOf(text).split('\nRows\n')
    found[status] = `\n${top.replaceAll(new RegExp(`(?<=[Ii]mports?[/ ](?:\\w+ )?)${id}\\b`, 'g'), 'ID')}\n`
  }
  expect(found).toEqual(TOPS)
})
