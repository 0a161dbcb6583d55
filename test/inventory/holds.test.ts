import { expect, test } from 'vitest'
import { approveRun, NothingToApprove, rejectRun } from '#src/inventory/holds/approve.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import {
  approve,
  EVERYTHING,
  FOLDER_1,
  FOLDER_2,
  keep,
  openHolds,
  openKnown,
  outcomes,
} from './known-rules.ts'
import { currentIds, scriptedAccount, syncListed, upTo, withAccounts } from './scripted-account.ts'

const NEVER = new AbortController().signal
test('a complete listing of one folder leaves a hold of all folders open: it has not seen its rows', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  expect(held).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [keep(...upTo(20))], FOLDER_1)).toMatchObject({ status: 'succeeded' })
  expect(await openHolds(harness)).toMatchObject([{ ids: upTo(40).slice(20) }])
})

test('a complete listing of one folder leaves a hold of another folder open', async () => {
  await using harness = await openKnown()
  expect(await syncListed(harness, [keep(...upTo(40).slice(20))], FOLDER_1)).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [EVERYTHING], FOLDER_2)).toMatchObject({ status: 'succeeded' })
  expect(await openHolds(harness)).toMatchObject([{ ids: upTo(20) }])
})

test('a complete listing of all folders ends the hold of one of them', async () => {
  await using harness = await openKnown()
  expect(await syncListed(harness, [keep(...upTo(40).slice(20))], FOLDER_1)).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [EVERYTHING])).toMatchObject({ status: 'succeeded' })
  expect(await outcomes(harness)).toEqual([{ outcome: 'voided', ids: 20 }])
})

test('what one folder holds takes the place of what all folders held, and the other way round', async () => {
  await using harness = await openKnown()
  await syncListed(harness, [[]])
  expect(await syncListed(harness, [keep(1)], FOLDER_1)).toMatchObject({ status: 'held' })
  expect(await openHolds(harness)).toMatchObject([{ ids: upTo(20).slice(1) }])
  expect(await syncListed(harness, [keep(1)])).toMatchObject({ status: 'held' })
  expect(await openHolds(harness)).toMatchObject([{ ids: upTo(40).slice(1) }])
  expect(await outcomes(harness)).toEqual([
    { outcome: 'voided', ids: 40 },
    { outcome: 'voided', ids: 19 },
    { outcome: null, ids: 39 },
  ])
})

test('what a hold of other folders replaced waits for a person too, until it is listed again', async () => {
  await using harness = await openKnown()
  expect(await syncListed(harness, [keep(...upTo(40).slice(20))], FOLDER_1)).toMatchObject({ status: 'held' })
  expect(await syncListed(harness, [keep(...upTo(20))], FOLDER_2)).toMatchObject({ status: 'held' })
  expect(await openHolds(harness)).toMatchObject([{ ids: upTo(40).slice(20) }])
  const allButOne = keep(...upTo(40).slice(1))
  expect(await syncListed(harness, [allButOne], FOLDER_1)).toMatchObject({ status: 'held', removed: 0 })
  expect(await syncListed(harness, [EVERYTHING], FOLDER_1)).toMatchObject({ status: 'succeeded' })
  expect(await syncListed(harness, [allButOne], FOLDER_1)).toMatchObject({ status: 'succeeded', removed: 1 })
})

test('a hold of the same folders is brought up to date, and each run that made it so may be approved', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(1, 2)], FOLDER_1)
  const second = await syncListed(harness, [keep(1, 2, 3)], FOLDER_1)
  expect([first.status, second.status]).toEqual(['held', 'held'])
  expect(await outcomes(harness)).toEqual([{ outcome: null, ids: 17 }])
  const approved = await approve(harness, first.run, keep(1))
  // Rule 2 is absent by now, but nobody was asked about it.
  expect(approved).toMatchObject({ status: 'succeeded', removed: 17 })
  expect(await harness.query(`select subject_id from ferry.audit where action = 'approve'`)).toEqual([
    { subject_id: `${first.run}` },
  ])
  expect(await currentIds(harness)).toEqual([1, 2, 3, ...upTo(40).slice(20)])
  await expect(approve(harness, second.run, keep(1))).rejects.toThrow(NothingToApprove)
})

test('of a hold that an older Ferry wrote, only the last run is known to have held every row', async () => {
  await using harness = await openKnown()
  const first = await syncListed(harness, [keep(...upTo(20))])
  const last = await syncListed(harness, [keep(...upTo(20))])
  await harness.query(`update ferry.removal_holds set since_runs = '{}'`)
  await expect(rejectRun(harness.ferry, first.run, ADA)).rejects.toThrow(NothingToApprove)
  expect(await rejectRun(harness.ferry, last.run, ADA)).toBe(20)
})

test('an approval needs a second listing that agrees, as any removal does', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  const flickering = scriptedAccount('default', n => (n === 1 ? keep(...upTo(20)) : keep(...upTo(39))))
  expect(await approveRun(withAccounts(harness, flickering), held.run, ADA, NEVER)).toMatchObject({
    removed: 1,
    requests: 2,
  })
  expect(await currentIds(harness)).toEqual(upTo(39))
})

test('an approval reads what the held run read: of one folder that folder alone', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(1)], FOLDER_1)
  const listed = [...keep(1), ...keep(21, 22).map(rule => ({ ...rule, name: 'renamed' }))]
  expect(await approve(harness, held.run, listed)).toMatchObject({ seen: 1, changed: 0, removed: 19 })
  expect(await currentIds(harness)).toEqual([1, ...upTo(40).slice(20)])
  expect(await harness.query(`select 1 from ferry.alert_rules where name = 'renamed'`)).toEqual([])
})

test('each account has a hold of its own, and an approval of one touches no other', async () => {
  await using harness = await openKnown('one')
  await syncListed(harness, [EVERYTHING], { account: 'two' })
  const one = await syncListed(harness, [keep(1, 2)], { account: 'one' })
  const two = await syncListed(harness, [keep(1, 2, 3)], { account: 'two' })
  const oneAgain = await syncListed(harness, [keep(1)], { account: 'one' })
  expect([one.status, two.status, oneAgain.status]).toEqual(['held', 'held', 'held'])
  expect(await openHolds(harness)).toMatchObject([
    { account: 'one', ids: upTo(40).slice(1) },
    { account: 'two', ids: upTo(40).slice(3) },
  ])
  // The run of the other account lies between those that made and renewed the hold of the first.
  expect(await approve(harness, two.run, keep(1, 2, 3), 'two')).toMatchObject({ account: 'two', removed: 37 })
  expect(await currentIds(harness, 'two')).toEqual([1, 2, 3])
  expect(await currentIds(harness, 'one')).toEqual(upTo(40))
  expect(await openHolds(harness)).toMatchObject([{ account: 'one' }])
  expect(await syncListed(harness, [EVERYTHING], { account: 'two' })).toMatchObject({ status: 'succeeded' })
  expect(await openHolds(harness)).toMatchObject([{ account: 'one' }])
})

test('rules and servers hold their removals apart', async () => {
  await using harness = await openFerryHarness({ rules: 15, servers: 15 })
  const MCP = { resource: 'mcp-servers' } as const
  for (const request of [{}, MCP]) await harness.sync(request)
  harness.sandbox.state.replaceRulesBody('[]')
  for (const server of harness.sandbox.state.servers.rows().slice(1)) {
    harness.sandbox.state.removeServer(server.server_id)
  }
  const rulesHeld = await harness.sync()
  const serversHeld = await harness.sync(MCP)
  expect([rulesHeld.status, serversHeld.status]).toEqual(['held', 'held'])
  expect(await harness.query('select resource from ferry.removal_holds where ended_at is null')).toHaveLength(
    2,
  )
  harness.sandbox.state.replaceRulesBody(null)
  await harness.sync()
  expect(await harness.query('select resource from ferry.removal_holds where ended_at is null')).toEqual([
    { resource: 'mcp-servers' },
  ])
  expect(await approveRun(harness.ferry, serversHeld.run, ADA, NEVER)).toMatchObject({
    resource: 'mcp-servers',
    removed: 14,
  })
  expect(await harness.query('select 1 from ferry.alert_rules')).toHaveLength(15)
})

test('only the run of an open hold can be approved: none of an ended one, and none that succeeded before or after it', async () => {
  await using harness = await openKnown()
  const ended = await syncListed(harness, [keep(1)])
  expect(ended.status).toBe('held')
  const before = await syncListed(harness, [EVERYTHING])
  await syncListed(harness, [keep(1)])
  const folder = await syncListed(harness, [keep(...upTo(20))], FOLDER_1)
  await syncListed(harness, [keep(1)])
  expect(folder.status).toBe('succeeded')
  for (const { run } of [ended, before, folder]) {
    await expect(approve(harness, run, keep(1))).rejects.toThrow(NothingToApprove)
  }
  expect(await currentIds(harness)).toEqual(upTo(40))
})

test('of two approvals at once one waits for the other, and then has nothing to do', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  const context = withAccounts(
    harness,
    scriptedAccount('default', () => keep(...upTo(20))),
  )
  const ends = await Promise.allSettled(
    [1, 2].map(() => approveRun(context, held.run, ADA, NEVER, { waitsForOther: true })),
  )
  expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(ends.find(end => end.status === 'rejected')?.reason).toBeInstanceOf(NothingToApprove)
  expect(await harness.query(`select from ferry.sync_runs where guard = 'approved'`)).toHaveLength(1)
  expect(await harness.query(`select from ferry.audit where action = 'approve'`)).toHaveLength(1)
})

test('what a person rejects while another one approves it stays', async () => {
  await using harness = await openKnown()
  const held = await syncListed(harness, [keep(...upTo(20))])
  const account = scriptedAccount('default', () => keep(...upTo(20)))
  const listAlertRules: typeof account.client.listAlertRules = async function* (...listing) {
    await rejectRun(harness.ferry, held.run, ADA).catch(() => {})
    yield* account.client.listAlertRules(...listing)
  }
  const rejecting = { ...account, client: { ...account.client, listAlertRules } }
  expect(await approveRun(withAccounts(harness, rejecting), held.run, ADA, NEVER)).toMatchObject({
    status: 'failed',
    errorCode: 'HoldEnded',
    removed: 0,
  })
  expect(await currentIds(harness)).toEqual(upTo(40))
  expect(await outcomes(harness)).toEqual([{ outcome: 'rejected', ids: 20 }])
})

test('a hold that takes the place of another is told anew, with its own rows', async () => {
  await using harness = await openKnown()
  const told = () =>
    harness.query(
      `select state, (data->>'rows')::int as rows, is_open from ferry.events where kind = 'removals.held' order by id`,
    )
  await syncListed(harness, [[]])
  await syncListed(harness, [keep(1)], FOLDER_1)
  expect(await told()).toEqual([
    { state: 'raised', rows: 40, is_open: false },
    { state: 'resolved', rows: 40, is_open: false },
    { state: 'raised', rows: 19, is_open: true },
  ])
})
