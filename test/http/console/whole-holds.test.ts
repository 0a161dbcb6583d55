import { afterAll, beforeAll, expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import type { RunEnd } from '#src/inventory/runs/ledger.ts'
import type { Resource } from '#src/model/resource.ts'
import { addRun } from '#test/support/runs.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { type ConsoleHarness, openConsoleHarness } from './console-harness.ts'
import { textOf } from './whole-text.ts'

/* The whole page of a hold in each state that it can have: of an account that is named after it. */

type State = {
  readonly resource?: Resource
  /** Of its rows, only these. */
  readonly ids?: readonly string[]
  /** How it ended. */
  readonly outcome?: 'approved' | 'rejected' | 'voided'
  /** How the run ended that was to remove the rows; null: it is still under way. */
  readonly approval?: Partial<RunEnd> | null
  readonly wasListingEmpty?: true
  /** Another run has held one row more. */
  readonly hasGrown?: true
}

const REFUSED = {
  status: 'failed',
  appliedAt: null,
  errorCode: 'AccessDenied',
  message: 'No `access`.',
} as const
const STATES: Readonly<Record<string, State>> = {
  open: {},
  'of one server': { resource: 'mcp-servers', ids: ['x'], wasListingEmpty: true },
  grown: { hasGrown: true },
  'of nobody here': {},
  'under way': { approval: null },
  refused: { approval: { ...REFUSED, requestId: 'request-7' } },
  'refused and rejected': { approval: { ...REFUSED, message: null }, outcome: 'rejected' },
  'approved in part': { approval: { removed: 1_234 } },
  'kept by another key': { approval: { removed: 0, message: '3 rows were held with another key' } },
  approved: { outcome: 'approved', approval: { removed: 2 } },
  'approved one': { outcome: 'approved', approval: { removed: 1 } },
  'approved none': { outcome: 'approved', approval: { removed: 0 } },
  'approved long ago': { outcome: 'approved' },
  rejected: { outcome: 'rejected' },
  voided: { outcome: 'voided' },
}

let harness: ConsoleHarness
beforeAll(async () => {
  const { accounts } = readConfig({ FERRY_BASE_URL: 'https://platform.example', FERRY_APP_KEY: 'key' })
  const named = Object.keys(STATES).filter(name => name !== 'of nobody here')
  harness = await openConsoleHarness({
    config: { accounts: named.flatMap(name => accounts.map(account => ({ ...account, name }))) },
  })
  // The numbers of runs are told from others by their size.
  await harness.query(`select setval('ferry.sync_runs_id_seq', 70000)`)
})
afterAll(() => harness[Symbol.asyncDispose]())

/** Makes such a hold of rules 1, 2 and 3, of which nothing is known of the last. Returns its page, with `HELD` and `LATER` for the runs. */
async function pageOf(account: string, state: State): Promise<string> {
  const { resource = 'alert-rules', ids = ['1', '2', '3'], outcome = null, approval } = state
  const { pool } = harness.ferry
  const rule = { account, from: '2026-01-01', labels: { team: 'pay' }, folder: 7, by: 'Ada' }
  for (const id of ['1', '2', '8', '9'])
    await insertRuleVersion(pool, { ...rule, id, name: `Rule ${id}`, enabled: id !== '2' })
  await insertFiring(pool, { account, id: '2', from: '2026-01-02' })
  await insertServerVersion(pool, { account, id: 'x', name: 'Orders', from: '2026-01-01' })
  const seen = state.wasListingEmpty ? 0 : 9
  const held = await addRun(pool, { account, resource, end: { status: 'held', seen } })
  const last = state.hasGrown
    ? await addRun(pool, { account, resource, end: { status: 'held', seen } })
    : held
  const all = [...ids.map(id => ({ id, since: held })), ...(state.hasGrown ? [{ id: '9', since: last }] : [])]
  await harness.query(
    `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs) values ($1, $2, $3, $4, $5, $6)`,
    [account, resource, held, last, all.map(({ id }) => id), all.map(({ since }) => since)],
  )
  const act = (action: string, run: bigint) =>
    harness.query(
      `insert into ferry.audit (account, actor, action, subject_kind, subject_id, because) values ($1, 'anna', $2, 'run', $3, 'moved away')`,
      [account, action, run],
    )
  if (approval !== undefined) {
    const run = await addRun(pool, { account, resource, guard: 'approved', end: approval ?? {} })
    await act('sync', run)
    if (approval === null)
      await harness.query(`update ferry.sync_runs set status = 'running', finished_at = null where id = $1`, [
        run,
      ])
  }
  if (outcome !== null) {
    await harness.query(
      `update ferry.removal_holds set ended_at = clock_timestamp(), outcome = $2, rejected_by = case $2 when 'rejected' then 'sam' end
       where account = $1`,
      [account, outcome],
    )
    if (outcome === 'rejected') await act('reject', held)
  }
  const { text } = await harness.page(`/ledger/holds/${held}`)
  return textOf(text)
    .replaceAll(`${held}`, 'HELD')
    .replaceAll(/\b70\d\d\d\b/g, 'LATER')
}

/** The whole pages of some. */
const PAGES: Readonly<Record<string, string>> = {
  'of one server': `
Removals held: mcp-servers of of one server
* [/ledger/holds] Holds (notice warn) The listing was empty. The platform no longer lists the only MCP server that Ferry stores. Decide whether to remove it.
! [/ledger/holds/HELD/approve] It is gone: remove it [/ledger/holds/HELD/reject] It is not gone: keep it
State
warn:open
Account
of one server
Inventory
mcp-servers
Rows
1
First missing
[/at/THEN] THEN , [/ledger/runs/HELD] run HELD
Rows that would be removed Name Id
[/servers/of%20one%20server/x] Orders x
`,
  grown: `
Removals held: alert-rules of grown
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
(notice warn) 1 row is new since run HELD: a decision on this page does not touch it. [/ledger/holds/LATER] Look at all 4, as run LATER found them .
! [/ledger/holds/HELD/approve] They are gone: remove the 3 of run HELD [/ledger/holds/HELD/reject] They are not gone: keep the 3 of run HELD
State
warn:open
Account
grown
Inventory
alert-rules
Rows
4
First missing
[/at/THEN] THEN , [/ledger/runs/HELD] run HELD
Last missing
[/ledger/runs/LATER] run LATER
Folders that would lose the most Folder Would be removed Current
7 2 4
New since run HELD: 1 Name Id State Folder Team Last edited by
[/rules/grown/9] Rule 9 9 good:enabled 7 pay Ada
Rows that run HELD held Name Id State Folder Team Last edited by
[/rules/grown/1] Rule 1 1 good:enabled 7 pay Ada
[/rules/grown/2] Rule 2 2 warn:disabled bad:firing 7 pay Ada
[/rules/grown/3] no longer stored 3 – –
`,
  approved: `
Removals held: alert-rules of approved
* [/ledger/holds] Holds (notice) Approved: 2 alert rules were still missing, and were removed. [/changes?account=approved&kind=removed] See what was removed .
State
bad:approved: removed
Account
approved
Inventory
alert-rules
Rows
3
First missing
[/at/THEN] THEN , [/ledger/runs/HELD] run HELD
Ended
[/at/THEN] THEN
Decided by
anna
Why
moved away
Rows that run HELD held Name Id Folder Team Last edited by
[/rules/approved/1] Rule 1 1 7 pay Ada
[/rules/approved/2] Rule 2 2 7 pay Ada
[/rules/approved/3] no longer stored 3 – –
Approvals Run By Why Began Status Removed Error
[/ledger/runs/LATER] LATER anna moved away [/at/THEN] THEN good:succeeded 2
`,
}

/** What stands above the facts of the others. */
const TOPS: Readonly<Record<string, string>> = {
  open: `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
! [/ledger/holds/HELD/approve] They are gone: remove them [/ledger/holds/HELD/reject] They are not gone: keep them
State
warn:open
`,
  'of nobody here': `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
[/ledger/holds/HELD/reject] They are not gone: keep them
This worker has no account of nobody here : the console of one that has it, or ferry runs approve HELD there, removes them.
State
warn:open
`,
  'under way': `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
(notice) quiet:under way Approved by anna . Ferry is reading the inventory again in [/ledger/runs/LATER] run LATER . This may take minutes. This page will show the result.
State
warn:open
`,
  refused: `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
! [/ledger/holds/HELD/approve] They are gone: remove them [/ledger/holds/HELD/reject] They are not gone: keep them
(problem) bad:failed Approved by anna , but nothing was removed: No access . Request id: [/ledger/calls?request_id=request-7] request-7 . [/ledger/runs/LATER] Run LATER has the details. Fix the cause, then approve again.
State
warn:open
`,
  'refused and rejected': `
* [/ledger/holds] Holds (notice) Rejected by sam : the rows stay. By itself, Ferry asks about a row again, or removes it, only if a complete listing has it again and later ones do not.
(problem) bad:failed Approved by anna , but nothing was removed: the reason is unknown. [/ledger/runs/LATER] Run LATER has the details.
State
good:rejected: kept
`,
  'approved in part': `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
! [/ledger/holds/HELD/approve] They are gone: remove them [/ledger/holds/HELD/reject] They are not gone: keep them
(notice) anna approved other rows of this hold in [/ledger/runs/LATER] run LATER : 1,234 were removed. These stay held until somebody decides, however few they are.
State
warn:open
`,
  'kept by another key': `
* [/ledger/holds] Holds (notice warn) The platform no longer lists 3 of 4 alert rules that Ferry stores. 1 of these is firing now. Decide whether to remove them.
! [/ledger/holds/HELD/approve] They are gone: remove them [/ledger/holds/HELD/reject] They are not gone: keep them
(problem) warn:nothing removed Approved by anna in [/ledger/runs/LATER] run LATER , but nothing was removed: 3 rows were held with another key
State
warn:open
`,
  'approved one': `
* [/ledger/holds] Holds (notice) Approved: 1 alert rule was still missing, and was removed. [/changes?account=approved+one&kind=removed] See what was removed .
State
bad:approved: removed
`,
  'approved none': `
* [/ledger/holds] Holds (notice) Approved, but all of the rows were listed again: nothing was removed.
State
bad:approved: removed
`,
  'approved long ago': `
* [/ledger/holds] Holds (notice) Approved: the rows that were still missing were removed.
State
bad:approved: removed
`,
  rejected: `
* [/ledger/holds] Holds (notice) Rejected by sam : the rows stay. By itself, Ferry asks about a row again, or removes it, only if a complete listing has it again and later ones do not.
State
good:rejected: kept
`,
  voided: `
* [/ledger/holds] Holds (notice) A later run settled it: it found the rows again, or it looked at other folders. [/ledger/holds] What waits for a decision .
State
quiet:voided
`,
}

test.each(Object.entries(STATES))('the page of a hold that is %s', async (name, state) => {
  const page = await pageOf(name, state)
  const [, top = ''] = /\n(.*?)\nAccount\n/s.exec(page) ?? []
  expect(`\n${PAGES[name] ? page : top}\n`).toBe(PAGES[name] ?? TOPS[name])
})
