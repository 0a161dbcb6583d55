import { describe, expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { insertServerVersion } from '#test/support/versions.ts'
import { ask, DAY, edited, fire, HOUR, insert, minutesAgo } from './ask.ts'

test('rules_by_folder, rules_by_team and rules_unowned count current rules; a team is a label, whatever its case', async () => {
  await using store = await openTestStore()
  await insert(store, { id: '1', name: 'one', from: DAY, labels: { team: 'payments', owner: 'ada' } })
  await insert(store, { id: '2', name: 'two', from: DAY, labels: { Owner: 'payments' }, enabled: false })
  await insert(store, {
    id: '3',
    name: 'three',
    from: DAY,
    labels: { squad: 'search', team: '' },
    folder: 2,
    debug: true,
  })
  await insert(store, {
    id: '4',
    name: 'four',
    from: DAY,
    labels: { TEAM: 'search', teams: 'no' },
    folder: 2,
  })
  await insert(store, { id: '5', name: 'five', from: DAY, labels: { service: 'team' } })
  await insert(store, { id: '6', name: 'six', from: DAY, labels: null })
  await insert(store, { id: '7', name: 'removed', from: DAY, to: HOUR, labels: null })
  await insert(store, { account: 'b', name: 'elsewhere', from: DAY, labels: { team: 'payments' } })
  await fire(store, { id: '1', from: HOUR })
  await fire(store, { id: '4', from: HOUR, to: 1 })
  const counts = 'rules enabled disabled firing debug_log_enabled'
  expect(await ask(store, 'rules_by_folder', `account folder_id ${counts} unowned`)).toEqual([
    ['a', 1n, 4, 3, 1, 1, 0, 2],
    ['a', 2n, 2, 2, 0, 0, 1, 0],
    ['b', 1n, 1, 1, 0, 0, 0, 0],
  ])
  expect(await ask(store, 'rules_by_team', `account team ${counts} folders`)).toEqual([
    ['a', 'payments', 2, 1, 1, 1, 0, 1],
    ['a', 'search', 2, 2, 0, 0, 1, 1],
    ['a', null, 2, 2, 0, 0, 0, 1],
    ['b', 'payments', 1, 1, 0, 0, 0, 1],
  ])
  expect(await ask(store, 'rules_unowned', 'account folder_id name creator_name')).toEqual([
    ['a', 1n, 'five', 'Grace'],
    ['a', 1n, 'six', 'Grace'],
  ])
})

test('editors shares the edits of a folder out, and says where only one person edits; an addition is no edit', async () => {
  await using store = await openTestStore()
  await edited(store, '1', 1, [
    [DAY, 'Ada'],
    [2 * DAY, 'Grace'],
    [40 * DAY, 'Joan'],
  ])
  await edited(store, '2', 1, [[2 * DAY, 'Ada']])
  await edited(store, '3', 2, [[2 * DAY, 'Ada']])
  await insert(store, { id: '4', name: 'new', folder: 2, by: 'Margaret', from: DAY })
  await insert(store, { id: '5', name: 'gone', folder: 2, by: 'Margaret', from: DAY, to: HOUR })
  const columns = 'account folder_id updater_name edits share last_edit only_editor'
  expect(await ask(store, 'editors', columns)).toEqual([
    ['a', 2n, 'Ada', 1, 1, minutesAgo(2 * DAY), true],
    ['a', 1n, 'Ada', 2, 2 / 3, minutesAgo(DAY), false],
    ['a', 1n, 'Grace', 1, 1 / 3, minutesAgo(2 * DAY), false],
  ])
  expect(await ask(store, 'editors', 'folder_id updater_name', { since: minutesAgo(50 * DAY) })).toEqual([
    [2n, 'Ada'],
    [1n, 'Ada'],
    [1n, 'Joan'],
    [1n, 'Grace'],
  ])
})

test('edits_by_person adds up what a person edited in all folders, the most first', async () => {
  await using store = await openTestStore()
  await edited(store, '1', 1, [
    [DAY, 'Ada'],
    [2 * DAY, 'Grace'],
    [40 * DAY, 'Joan'],
  ])
  await edited(store, '2', 2, [[2 * DAY, 'Grace']])
  const columns = 'account updater_id updater_name edits folders last_edit'
  expect(await ask(store, 'edits_by_person', columns)).toEqual([
    ['a', 5n, 'Grace', 2, 2, minutesAgo(2 * DAY)],
    ['a', 3n, 'Ada', 1, 1, minutesAgo(DAY)],
  ])
  expect(await ask(store, 'edits_by_person', 'edits', { since: minutesAgo(50 * DAY) })).toHaveLength(3)
  expect(await ask(store, 'edits_by_person', 'edits', { account: 'b' })).toEqual([])
})

test('churn_by_folder tells additions, changes, removals and returns apart', async () => {
  await using store = await openTestStore()
  await edited(store, '1', 1, [
    [HOUR, 'Ada'],
    [DAY, 'Ada'],
    [20 * DAY, 'Ada'],
  ])
  await insert(store, { id: '2', name: 'new', folder: 2, from: DAY, to: HOUR })
  await insert(store, { id: '3', name: 'back', folder: 2, from: 9 * DAY, to: 3 * DAY })
  await insert(store, { id: '3', name: 'back', folder: 2, from: DAY })
  // It moved here, and was removed elsewhere at the same moment.
  await insert(store, { id: '4', name: 'moved', folder: 1, from: 9 * DAY, to: DAY })
  await insert(store, { id: '4', name: 'moved', folder: 3, from: DAY })
  const columns = 'account folder_id added changed removed returned changes rules_now'
  expect(await ask(store, 'churn_by_folder', columns)).toEqual([
    ['a', 2n, 1, 0, 2, 1, 4, 1],
    ['a', 1n, 0, 2, 0, 0, 2, 1],
    ['a', 3n, 0, 1, 0, 0, 1, 1],
  ])
})

test('churn_by_folder adds nothing whose earlier versions were removed for their age', async () => {
  await using store = await openTestStore()
  const changed = { folder: 1, from: 3 * DAY }
  for (const id of ['1', '2'])
    await insert(store, { ...changed, id, name: 'old', from: 5 * DAY, to: 3 * DAY })
  await insert(store, { ...changed, id: '1', name: 'new', to: DAY })
  await insert(store, { ...changed, id: '2', name: 'new' })
  await insert(store, { ...changed, id: '1', name: 'newer', from: DAY })
  await insert(store, { ...changed, id: '3', name: 'gone', from: 4 * DAY, to: 3 * DAY })
  const columns = 'added changed removed returned changes'
  expect(await ask(store, 'churn_by_folder', columns)).toEqual([[3, 3, 1, 0, 7]])
  await store.pool.query('insert into ferry.history (starts_at) values ($1)', [minutesAgo(2 * DAY)])
  await store.pool.query(`delete from ferry.alert_rule_versions where valid_to < ferry.history_start()`)
  expect(await ask(store, 'churn_by_folder', columns)).toEqual([[0, 1, 0, 0, 1]])
  expect(await ask(store, 'churn_by_folder', columns, { since: minutesAgo(HOUR) })).toEqual([])
})

test('churn_by_folder counts what a first reading found apart, and each account its own', async () => {
  await using store = await openTestStore()
  for (const id of ['1', '2', '3'])
    await insert(store, { id, name: id, from: DAY, appeared: 'first reading' })
  await insert(store, { id: '4', name: 'made', from: HOUR })
  // The same ids in another account: changed at the moment at which the first ones appeared.
  await insert(store, { account: 'b', id: '1', name: 'was', from: 20 * DAY, to: DAY })
  await insert(store, { account: 'b', id: '2', name: 'before', from: 20 * DAY, to: DAY })
  await insert(store, { account: 'b', id: '2', name: 'after', from: DAY })
  await insert(store, { account: 'b', id: '4', name: 'back', from: 20 * DAY, to: 2 * DAY })
  await insert(store, { account: 'b', id: '5', name: 'back', from: 20 * DAY, to: 9 * DAY })
  await insert(store, { account: 'b', id: '5', name: 'back', from: HOUR })
  const columns = 'account folder_id added changed removed returned changes rules_now first_read'
  expect(await ask(store, 'churn_by_folder', columns)).toEqual([
    ['b', 1n, 0, 1, 2, 1, 4, 2, 0],
    ['a', 1n, 1, 0, 0, 0, 1, 4, 3],
  ])
})

test('changes_between says what a first reading found in that time', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'found', from: HOUR, to: 30, appeared: 'first reading' })
  await insert(store, { name: 'found and changed', from: 30 })
  await insert(store, { id: '2', name: 'made', from: HOUR })
  await insert(store, { id: '3', name: 'changed', from: 2 * DAY, to: HOUR, appeared: 'first reading' })
  await insert(store, { id: '3', name: 'is', from: HOUR })
  await insertServerVersion(store.pool, { name: 'server', from: minutesAgo(HOUR), appeared: 'first reading' })
  expect(await ask(store, 'changes_between', 'change name first_reading')).toEqual([
    ['added', 'found and changed', true],
    ['added', 'made', false],
    ['changed', 'is', false],
    ['added', 'server', true],
  ])
})

describe('changes_between', () => {
  test('has what differs at the end, with the fields, whatever happened between', async () => {
    await using store = await openTestStore()
    await insert(store, { id: '1', name: 'same', from: 9 * DAY, to: 600 })
    await insert(store, { id: '1', name: 'other', from: 600, to: 500 })
    await insert(store, { id: '1', name: 'same', from: 500 })
    await insert(store, { id: '2', name: 'before', from: 9 * DAY, to: 600, by: 'Joan' })
    await insert(store, { id: '2', name: 'after', from: 600, labels: { team: 'search' }, by: 'Ada' })
    await insert(store, { id: '3', name: 'new', from: 600, by: 'Grace' })
    await insert(store, { id: '4', name: 'gone', from: 9 * DAY, to: 600 })
    await insert(store, { id: '5', name: 'new and gone', from: 600, to: 500 })
    await insert(store, { id: '6', name: 'old', from: 9 * DAY, to: 2 * DAY })
    await insert(store, { id: '6', name: 'old', from: 2 * DAY, folder: 2 })
    const columns = 'account inventory change id name updater_name before after'
    const rows = await ask(store, 'changes_between', columns)
    expect(rows.map(row => row.slice(0, 6))).toEqual([
      ['a', 'alert-rules', 'added', '3', 'new', 'Grace'],
      ['a', 'alert-rules', 'changed', '2', 'after', 'Ada'],
      ['a', 'alert-rules', 'removed', '4', 'gone', null],
    ])
    expect(rows.map(row => row.slice(6))).toEqual([
      [null, null],
      [
        { json: '{"name": "before", "labels": {}, "updater_id": 4, "updater_name": "Joan"}' },
        { json: '{"name": "after", "labels": {"team": "search"}, "updater_id": 3, "updater_name": "Ada"}' },
      ],
      [null, null],
    ])
    const back = await store.pool.query(
      `select change, id from ferry.changes_between(now(), now() - interval '1 day') order by id`,
    )
    expect(back.rows).toEqual([
      { change: 'changed', id: '2' },
      { change: 'removed', id: '3' },
      { change: 'added', id: '4' },
    ])
  })
})

test('silenced has what was done to a rule while it fired, or within an hour: by whom, when, what', async () => {
  await using store = await openTestStore()
  const rule = async (
    id: string,
    name: string,
    at: number,
    after: object | null,
    firing: { from: number; to?: number },
  ) => {
    await insert(store, { id, name, from: 9 * DAY, to: at, by: 'Joan', labels: { team: name } })
    if (after) await insert(store, { id, name, from: at, by: 'Ada', labels: { team: name }, ...after })
    await fire(store, { id, ...firing })
  }
  await rule('1', 'disabled in time', 600, { enabled: false }, { from: 700, to: 600 })
  await rule('2', 'edited while firing', 500, { cron: '0 * * * *' }, { from: 700 })
  await rule('3', 'removed', 400, null, { from: 450, to: 400 })
  await rule('4', 'edited an hour after', 300, { folder: 2 }, { from: 400, to: 360 })
  await rule('5', 'edited later', 300, { folder: 2 }, { from: 400, to: 361 })
  await rule('6', 'edited before', 300, { folder: 2 }, { from: 300, to: 200 })
  await rule('7', 'edited long ago', 8 * DAY, { folder: 2 }, { from: 8 * DAY + 1 })
  const columns = 'at what name folder_id fields updater_name began ended while_firing'
  const ago = minutesAgo
  expect(await ask(store, 'silenced', columns)).toEqual([
    [ago(300), 'edited', 'edited an hour after', 2n, ['folder_id'], 'Ada', ago(400), ago(360), false],
    [ago(400), 'removed', 'removed', 1n, null, null, ago(450), ago(400), true],
    [ago(500), 'edited', 'edited while firing', 1n, ['cron_pattern'], 'Ada', ago(700), null, true],
    [ago(600), 'disabled', 'disabled in time', 1n, ['enabled'], 'Ada', ago(700), ago(600), true],
  ])
})
