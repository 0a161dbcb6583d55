import { expect, test } from 'vitest'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import { approveRun } from '#src/inventory/holds/approve.ts'
import { findHoldOfRun, listApprovals } from '#src/inventory/holds/list-holds.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { addRun } from '#test/support/runs.ts'
import { rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const EVERYTHING = rules(upTo(40))
const HALF = EVERYTHING.slice(0, 20)

test.each([
  ['one of the hold', approve],
  ['one of all removals', accept],
])('the approvals of a hold are the runs that were to remove its rows: %s', async (_, decide) => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  await syncListed(harness, [EVERYTHING])
  const held = await syncListed(harness, [HALF])
  expect(held.status).toBe('held')
  expect(await listApprovals(pool, (await findHoldOfRun(pool, held.run))!, 5)).toEqual([])
  const { run } = await decide(harness, held.run)
  await syncListed(harness, [HALF], { acceptRemovals: true })
  const hold = (await findHoldOfRun(pool, held.run))!
  expect(hold.outcome).toBe('approved')
  expect(await listApprovals(pool, hold, 5)).toMatchObject([
    { run, status: 'succeeded', removed: 20, actor: ADA.actor },
  ])
})

test('of several attempts to approve a hold the last one comes first, and each once; those of other accounts are not shown', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  await syncListed(harness, [EVERYTHING])
  const { run } = await syncListed(harness, [HALF])
  const failed = { guard: 'approved', end: { status: 'failed', appliedAt: null } } as const
  const [first, second] = [await addRun(pool, failed), await addRun(pool, failed)]
  await addRun(pool, { ...failed, account: 'other' })
  const act = { account: 'default', subjectKind: 'run', subject: `${second}` } as const
  const acts = [{ ...act, action: 'sync' } as const, { ...act, action: 'reject' } as const]
  await inTransaction(pool, client => recordActs(client, ADA, acts))
  const hold = (await findHoldOfRun(pool, run))!
  expect((await listApprovals(pool, hold, 5)).map(approval => approval.run)).toEqual([second, first])
  expect((await listApprovals(pool, hold, 1)).map(approval => approval.run)).toEqual([second])
})

function approve(harness: FerryHarness, run: bigint) {
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => HALF),
  )
  return approveRun(context, run, ADA, new AbortController().signal)
}

function accept(harness: FerryHarness) {
  return syncListed(harness, [HALF], { acceptRemovals: true, by: ADA })
}
