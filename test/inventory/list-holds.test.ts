import { expect, test } from 'vitest'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import { approveRun } from '#src/inventory/holds/approve.ts'
import { findHoldOfRun, listApprovals, listHolds } from '#src/inventory/holds/list-holds.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { addRun } from '#test/support/runs.ts'
import { type Listed, rules, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

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

test('an approval whose listing is not complete leaves the hold open, and is no decision', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  await syncListed(harness, [EVERYTHING])
  const { run } = await syncListed(harness, [HALF])
  const unreadable = { ...EVERYTHING[0]!, broken: 'without an id' } as const
  expect(await approve(harness, run, [...HALF, unreadable])).toMatchObject({ status: 'partial', removed: 0 })
  expect(await findHoldOfRun(pool, run)).toMatchObject({ rows: 20, endedAt: null, outcome: null })
  expect(await harness.query(`select from ferry.audit where action = 'approve'`)).toEqual([])
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

test('of a run that two holds were updated by in turn, the one that had rows then is its hold', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  const held = { end: { status: 'held' } } as const
  const [first, second] = [await addRun(pool, held), await addRun(pool, held)]
  const add = `insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs, ended_at, outcome)
    values ('default', 'alert-rules', $1, $2, '{1,2}', array[$3, $3]::bigint[], now(), 'rejected')`
  await pool.query(add, [first, second, first])
  await pool.query(add, [first, second, second])
  expect(await findHoldOfRun(pool, first)).toMatchObject({ id: 1n, later: 0 })
  expect(await findHoldOfRun(pool, second)).toMatchObject({ id: 2n, later: 0 })
})

test('of several holds the newest comes first, the open ones apart from those that have ended, as many as are asked for', async () => {
  await using harness = await openFerryHarness({ rules: 0, servers: 0 })
  const { pool } = harness.ferry
  await pool.query(`
    insert into ferry.removal_holds (account, resource, opened_by_run, last_run, ids, since_runs, ended_at, outcome)
    select account, 'alert-rules', 1, 1, '{1}', '{1}', ended, case when ended is not null then 'voided' end
    from (values ('a', null), ('a', now()), ('b', null), ('b', now() - interval '1 d'), ('c', null)) as h (account, ended)`)
  const ids = async (...[which, limit, after]: [which: 'open' | 'ended', limit: number, after?: bigint]) =>
    (await listHolds(pool, which, limit, after)).map(({ id }) => Number(id))
  expect(await ids('open', 5)).toEqual([5, 3, 1])
  expect(await ids('open', 2)).toEqual([5, 3])
  expect(await ids('open', 2, 3n)).toEqual([1])
  expect(await ids('ended', 5)).toEqual([4, 2])
  expect(await ids('ended', 5, 4n)).toEqual([2])
})

function approve(harness: FerryHarness, run: bigint, listed: readonly Listed[] = HALF) {
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => listed),
  )
  return approveRun(context, run, ADA, new AbortController().signal)
}

function accept(harness: FerryHarness) {
  return syncListed(harness, [HALF], { acceptRemovals: true, by: ADA })
}
