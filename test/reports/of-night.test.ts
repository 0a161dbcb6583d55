import { expect, test } from 'vitest'
import { findReport, REPORTS } from '#src/reports/catalogue.ts'
import { runReport } from '#src/reports/run-report.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'
import { ask, DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

const NIGHTLY = ['rules_by_folder', 'rules_by_team', 'rules_unowned', 'mcp_tools', 'mcp_by_team']

/** Two nights ago, in UTC: no target says another zone. */
const TAKEN = minutesAgo(2 * DAY)
const NIGHT = TAKEN.toISOString().slice(0, 10)

async function addSnapshot(store: TestStore, account: string, status = 'succeeded', at = TAKEN) {
  await store.pool.query(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     values ($1, $2, $2, $3, 1, 1)`,
    [account, at, status],
  )
}

/** What two accounts have, from four days ago to so many minutes ago. */
async function fillAccounts(store: TestStore, to?: number) {
  const span = { from: 4 * DAY, ...(to !== undefined && { to }) }
  await insert(store, { ...span, id: '1', name: 'one', labels: { team: 'payments' } })
  await insert(store, { ...span, id: '2', name: 'two', labels: { owner: 'search' }, enabled: false })
  await insert(store, { ...span, id: '3', name: 'three', labels: null, folder: 2, debug: true })
  await insert(store, { ...span, id: '4', name: 'four', labels: {} })
  await insert(store, { ...span, id: '1', name: 'elsewhere', account: 'b', labels: { team: 'payments' } })
  await fire(store, { ...span, id: '1' })
  await fire(store, { ...span, id: '3' })
  const server = { from: minutesAgo(4 * DAY), ...(to !== undefined && { to: minutesAgo(to) }) }
  const tools = [{ name: 'read', description: 'Reads.' }, { name: 'write' }]
  await insertServerVersion(store.pool, { ...server, id: 's', name: 'S', team: 7, tools, status: 'enabled' })
  await insertServerVersion(store.pool, { ...server, id: 't', name: 'T', team: 7, auth: 'shared' })
  await insertServerVersion(store.pool, { ...server, id: 't', name: 'T', account: 'b', tools })
}

async function rowsOf(store: TestStore, name: string, given = {}) {
  const report = findReport(name)
  if (!report) throw new Error(`there is no report ${name}`)
  return await runReport(store.pool, report, given)
}

test.for(NIGHTLY)('%s of a night shows what it showed then, whatever came before and after', async name => {
  await using then = await openTestStore()
  await fillAccounts(then)
  await using now = await openTestStore()
  // Before it, after it, and since then.
  await insert(now, { id: '5', name: 'removed before', from: 9 * DAY, to: 3 * DAY })
  await fire(now, { id: '4', from: 4 * DAY, to: 3 * DAY })
  await fillAccounts(now, DAY)
  await insert(now, { id: '1', name: 'changed', from: DAY, labels: null, folder: 9, enabled: false })
  await insert(now, { id: '6', name: 'added', from: HOUR })
  await fire(now, { id: '2', from: DAY })
  await insertServerVersion(now.pool, { id: 's', name: 'changed', team: 8, from: minutesAgo(DAY) })
  for (const account of ['a', 'b']) await addSnapshot(now, account)
  const expected = await rowsOf(then, name)
  expect(expected.rows.length).toBeGreaterThan(1)
  expect(await rowsOf(now, name, { night: NIGHT })).toEqual(expected)
  expect(await rowsOf(now, name, { night: NIGHT, account: 'b' })).toEqual(
    await rowsOf(then, name, { account: 'b' }),
  )
  expect(await rowsOf(now, name)).not.toEqual(expected)
})

test('of an account without a snapshot of the night there are no rows', async () => {
  await using store = await openTestStore()
  await fillAccounts(store)
  await addSnapshot(store, 'a')
  await addSnapshot(store, 'b', 'succeeded', minutesAgo(3 * DAY))
  for (const name of NIGHTLY) {
    const rows = await ask(store, name, 'account', { night: NIGHT })
    expect([name, ...new Set(rows.flat())]).toEqual([name, 'a'])
  }
})

test('of several snapshots of a night each account is shown at its own, and the history must hold the first', async () => {
  await using store = await openTestStore()
  const hour = (hours: number) => new Date(Date.parse(NIGHT) + hours * HOUR * 60_000)
  for (const account of ['a', 'b']) {
    const early = { account, name: 'early', from: hour(-5), to: hour(12) }
    const late = { account, name: 'late', from: hour(12) }
    await insertRuleVersion(store.pool, { ...early, folder: 1, labels: null })
    await insertRuleVersion(store.pool, { ...late, folder: 2, labels: { team: 'late' } })
    await insertServerVersion(store.pool, { ...early, team: 1, tools: [{ name: 'early' }] })
    await insertServerVersion(store.pool, { ...late, team: 2, tools: [{ name: 'late' }] })
  }
  await addSnapshot(store, 'a', 'succeeded', hour(3))
  await addSnapshot(store, 'b', 'succeeded', hour(20))
  const shown = async (name: string, columns: string) =>
    Object.fromEntries(await ask(store, name, columns, { night: NIGHT }))
  expect(await shown('rules_by_folder', 'account folder_id')).toEqual({ a: 1n, b: 2n })
  expect(await shown('rules_by_team', 'account team')).toEqual({ a: null, b: 'late' })
  expect(await shown('rules_unowned', 'account name')).toEqual({ a: 'early' })
  expect(await shown('mcp_tools', 'account tool')).toEqual({ a: 'early', b: 'late' })
  expect(await shown('mcp_by_team', 'account team_id')).toEqual({ a: 1n, b: 2n })
  await store.pool.query('insert into ferry.history (starts_at) values ($1)', [hour(4)])
  for (const name of NIGHTLY) {
    await expect(rowsOf(store, name, { night: NIGHT })).rejects.toThrow('The history starts at')
  }
})

test('what ended at the moment of the snapshot had ended, and what began then had begun', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const hours = (n: number) => new Date(TAKEN.getTime() + n * 3_600_000)
  const [before, later] = [hours(-48), hours(24)]
  await addSnapshot(store, 'a')
  const rule = { id: '1', labels: null }
  await insertRuleVersion(pool, { ...rule, name: 'ended', from: before, to: TAKEN, folder: 1 })
  const began = { ...rule, name: 'began', from: TAKEN, to: later, folder: 2, enabled: false }
  await insertRuleVersion(pool, began)
  await insertRuleVersion(pool, { ...rule, id: '2', name: 'removed', from: before, to: TAKEN, folder: 3 })
  await insertRuleVersion(pool, { ...rule, id: '3', name: 'added', from: TAKEN, folder: 4, debug: true })
  await insertRuleVersion(pool, { ...rule, id: '4', name: 'added later', from: hours(0.01), folder: 5 })
  await insertFiring(pool, { id: '1', from: before, to: TAKEN })
  await insertFiring(pool, { id: '3', from: TAKEN, to: later })
  await insertServerVersion(pool, { id: 's', name: 'ended', from: before, to: TAKEN, team: 1 })
  await insertServerVersion(pool, { id: 's', name: 'began', from: TAKEN, team: 2 })
  const ofNight = (name: string, columns: string) => ask(store, name, columns, { night: NIGHT })
  const counts = 'folder_id rules enabled disabled firing debug_log_enabled unowned'
  expect(await ofNight('rules_by_folder', counts)).toEqual([
    [2n, 1, 0, 1, 0, 0, 1],
    [4n, 1, 1, 0, 1, 1, 1],
  ])
  expect((await ofNight('rules_unowned', 'name')).toSorted()).toEqual([['added'], ['began']])
  expect(await ofNight('mcp_by_team', 'team_id servers')).toEqual([[2n, 1]])
  expect(await ofNight('mcp_tools', 'server_name')).toEqual([['began']])
})

test('a night before the history starts is refused, not shown without what was removed', async () => {
  await using store = await openTestStore()
  await fillAccounts(store)
  await addSnapshot(store, 'a')
  await store.pool.query(`insert into ferry.history (starts_at) values (now() - interval '1 day')`)
  const refuses = async () => {
    for (const name of NIGHTLY) {
      await expect(rowsOf(store, name, { night: NIGHT })).rejects.toThrow('The history starts at')
    }
  }
  await refuses()
  // Snapshots are removed with the history.
  await store.pool.query('delete from ferry.snapshots')
  await refuses()
})

test('nights of one night shows that night alone, also a missed one and one of long ago', async () => {
  await using store = await openTestStore()
  const ago = (nights: number) => new Date(TAKEN.getTime() - nights * DAY * 60_000)
  const night = (nights: number) => ago(nights).toISOString().slice(0, 10)
  for (const nights of [0, 1, 3, 90]) await addSnapshot(store, 'a', 'held', ago(nights))
  await addSnapshot(store, 'b', 'partial', ago(1))
  const shown = (nights: number) => ask(store, 'nights', 'account night status', { night: night(nights) })
  expect(await shown(1)).toEqual([
    ['a', night(1), 'held'],
    ['b', night(1), 'partial'],
  ])
  expect(await shown(2)).toEqual([['a', night(2), 'missed']])
  expect(await shown(90)).toEqual([['a', night(90), 'held']])
  expect(await shown(91)).toEqual([])
})

test('the reports of a night have the columns of the reports of now', async () => {
  await using store = await openTestStore()
  const nightly = REPORTS.filter(({ ofNight }) => ofNight !== undefined)
  expect(nightly.map(({ name }) => name).toSorted()).toEqual(NIGHTLY.toSorted())
  for (const { name } of nightly) {
    expect((await rowsOf(store, name, { night: NIGHT })).columns).toEqual((await rowsOf(store, name)).columns)
  }
})
