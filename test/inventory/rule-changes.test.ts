import { expect, test } from 'vitest'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))

async function changesOf({ pool }: TestStore) {
  const { rows } = await pool.query(
    `select change, updater_id::int as id, updater_name as name, first_reading as "isFirst"
     from ferry.alert_rule_changes order by observed_at, change`,
  )
  return rows
}

test('a change names who updated the rule then; a removal, and what only appeared, name nobody', async () => {
  await using store = await openTestStore()
  const insert = (id: string, from: number, more: object) =>
    insertRuleVersion(store.pool, { id, name: 'rule', from: at(from), ...more })
  await insert('1', 0, { to: at(3), by: 'Ada', appeared: 'first reading' })
  await insert('2', 1, { by: 'Ada', appeared: 'unexplained' })
  await insert('3', 2, { by: 'Ada' })
  await insert('1', 3, { to: at(4), by: 'Grace', enabled: false })
  const nobody = { id: null, name: null, isFirst: false }
  expect(await changesOf(store)).toEqual([
    { change: 'added', ...nobody, isFirst: true },
    { change: 'added', ...nobody },
    { change: 'added', id: 3, name: 'Ada', isFirst: false },
    { change: 'changed', id: 5, name: 'Grace', isFirst: false },
    { change: 'removed', ...nobody },
  ])
})

test('a removal before the history starts is left out like everything else of that time', async () => {
  await using store = await openTestStore()
  await insertRuleVersion(store.pool, { name: 'rule', from: at(0), to: at(1) })
  await insertRuleVersion(store.pool, { id: '2', name: 'rule', from: at(0), to: at(5) })
  await store.pool.query('insert into ferry.history (starts_at) values ($1)', [at(3)])
  expect(await changesOf(store)).toMatchObject([{ change: 'removed' }])
})

test('what happened at the very start of the history belongs to it, of rules and of servers', async () => {
  await using store = await openTestStore()
  for (const insert of [insertRuleVersion, insertServerVersion]) {
    await insert(store.pool, { id: '1', name: 'gone', from: at(0), to: at(3) })
    await insert(store.pool, { id: '2', name: 'new', from: at(3) })
    await insert(store.pool, { id: '3', name: 'before', from: at(2) })
  }
  await store.pool.query('insert into ferry.history (starts_at) values ($1)', [at(3)])
  const { rows } = await store.pool.query(
    `select 'rule ' || id || ' ' || change as event from ferry.alert_rule_changes
     union all select 'server ' || server_id || ' ' || change from ferry.mcp_server_changes order by 1`,
  )
  expect(rows.map(({ event }) => event)).toEqual([
    'rule 1 removed',
    'rule 2 added',
    'server 1 removed',
    'server 2 added',
  ])
})
