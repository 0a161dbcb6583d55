import { expect, test } from 'vitest'
import { listChanges } from '#src/inventory/history/changes.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

/*
 * The views and functions of history, where two conditions meet: the same id in two accounts, the instant at which one
 * version ends and the next begins, a gap and no gap.
 */

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString()
const JUST_BEFORE = (hour: number) =>
  `${at(hour).slice(0, -5)}`.replace(/T(\d\d).*/, `T${String(hour - 1).padStart(2, '0')}:59:59.999999Z`)

type Hours = { account?: string; name: string; from: number; to?: number }

const hours = ({ from, to, ...version }: Hours) => ({
  ...version,
  from: at(from),
  to: to === undefined ? undefined : at(to),
})
const insertRule = (store: TestStore, version: Hours) => insertRuleVersion(store.pool, hours(version))
const insertServer = (store: TestStore, version: Hours) => insertServerVersion(store.pool, hours(version))

async function texts(store: TestStore, sql: string, params: unknown[] = []): Promise<string[]> {
  const { rows } = await store.pool.query(`select concat_ws(' ', ${sql}`, params)
  return rows.map(row => row.concat_ws)
}

test('rules as of an instant: from their first moment on, no longer at their last, each account its own', async () => {
  await using store = await openTestStore()
  await insertRule(store, { name: 'a1', from: 1, to: 2 })
  await insertRule(store, { name: 'a2', from: 2, to: 4 })
  await insertRule(store, { account: 'b', name: 'b1', from: 2 })
  const asOf = (instant: string) =>
    texts(store, 'account, name) from ferry.alert_rules_as_of($1) order by account', [instant])
  expect(await asOf(JUST_BEFORE(1))).toEqual([])
  expect(await asOf(at(1))).toEqual(['a a1'])
  expect(await asOf(JUST_BEFORE(2))).toEqual(['a a1'])
  expect(await asOf(at(2))).toEqual(['a a2', 'b b1'])
  expect(await asOf(at(4))).toEqual(['b b1'])
  expect(await texts(store, 'account, name) from ferry.alert_rules')).toEqual(['b b1'])
})

test('servers as of an instant: the same', async () => {
  await using store = await openTestStore()
  await insertServer(store, { name: 'a1', from: 1, to: 2 })
  await insertServer(store, { name: 'a2', from: 2, to: 4 })
  await insertServer(store, { account: 'b', name: 'b1', from: 2 })
  const asOf = (instant: string) =>
    texts(store, 'account, server_name) from ferry.mcp_servers_as_of($1) order by account', [instant])
  expect(await asOf(JUST_BEFORE(1))).toEqual([])
  expect(await asOf(at(1))).toEqual(['a a1'])
  expect(await asOf(at(2))).toEqual(['a a2', 'b b1'])
  expect(await asOf(at(4))).toEqual(['b b1'])
  expect(await texts(store, 'account, server_name) from ferry.mcp_servers')).toEqual(['b b1'])
  expect(await texts(store, 'account, server_name, name) from ferry.mcp_server_tools')).toEqual(['b b1 t'])
})

test('a rule fires from the first moment of an episode, no longer at its last, and only in its own account', async () => {
  await using store = await openTestStore()
  await insertRule(store, { name: 'r', from: 0 })
  await insertRule(store, { account: 'b', name: 'r', from: 0 })
  await insertFiring(store.pool, { from: at(1), to: at(2) })
  await insertFiring(store.pool, { from: at(3), to: at(4) })
  await insertFiring(store.pool, { account: 'b', from: at(4) })
  const firing = (instant: string) =>
    texts(store, 'account) from ferry.alert_rules_as_of($1) where triggered order by account', [instant])
  expect(await firing(JUST_BEFORE(1))).toEqual([])
  expect(await firing(at(1))).toEqual(['a'])
  expect(await firing(at(2))).toEqual([])
  expect(await firing(at(3))).toEqual(['a'])
  expect(await firing(at(4))).toEqual(['b'])
  expect(await texts(store, 'account) from ferry.alert_rules where triggered')).toEqual(['b'])
  expect(await texts(store, 'account, name) from ferry.alert_rules_firing')).toEqual(['b r'])
})

test.each([
  ['alert_rule_changes', insertRule, 'name'],
  ['mcp_server_changes', insertServer, 'server_name'],
] as const)(
  '%s: changed without a gap, returned after one, removed only where nothing follows',
  async (view, insert, name) => {
    await using store = await openTestStore()
    await insert(store, { name: 'one', from: 1, to: 2 })
    await insert(store, { name: 'two', from: 2, to: 3 })
    await insert(store, { name: 'two', from: 5, to: 6 })
    // The same id elsewhere begins just when this one ends, and is another thing.
    await insert(store, { account: 'b', name: 'other', from: 3, to: 5 })
    await insert(store, { account: 'b', name: 'another', from: 6 })
    const told = await texts(
      store,
      `account, extract(hour from observed_at at time zone 'UTC'), change, ${name}, before ->> '${name}', after ->> '${name}', run_id)
     from ferry.${view} order by account, observed_at`,
    )
    expect(told).toEqual([
      'a 1 added one 1',
      'a 2 changed two one two 1',
      'a 3 removed two 2',
      'a 5 returned two 1',
      'a 6 removed two 2',
      'b 3 added other 1',
      'b 5 removed other 2',
      'b 6 returned another other another 1',
    ])
  },
)

test('a field that was null, or is null now, is a field that differs', async () => {
  await using store = await openTestStore()
  for (const [n, text] of [null, 'UTC', null].entries()) {
    const span = { name: 'same', from: at(n + 1), to: at(n + 2) }
    await insertRuleVersion(store.pool, { ...span, timezone: text })
    await insertServerVersion(store.pool, { ...span, ...(text && { description: text }) })
  }
  for (const [changes, field] of [
    ['alert_rule_changes', 'timezone'],
    ['mcp_server_changes', 'description'],
  ]) {
    const { rows } = await store.pool.query(
      `select before, after from ferry.${changes} where change = 'changed' order by observed_at`,
    )
    expect(rows).toEqual([
      { before: { [`${field}`]: null }, after: { [`${field}`]: 'UTC' } },
      { before: { [`${field}`]: 'UTC' }, after: { [`${field}`]: null } },
    ])
  }
})

test('changes as the command line lists them are those of the views, of both inventories, the newest first', async () => {
  await using store = await openTestStore()
  for (const insert of [insertRule, insertServer]) {
    await insert(store, { name: 'one', from: 1, to: 2 })
    await insert(store, { name: 'two', from: 2, to: 3 })
    await insert(store, { name: 'two', from: 5 })
    await insert(store, { account: 'b', name: 'other', from: 3, to: 5 })
    // So many began that a page is full of them before it comes to what was removed at 3.
    for (const account of ['c', 'd', 'e']) await insert(store, { account, name: 'first', from: 1 })
  }
  const all = await Array.fromAsync(listChanges(store.pool, {}, null))
  const { rows } = await store.pool.query(
    `select account, change, observed_at from ferry.alert_rule_changes
     union all select account, change, observed_at from ferry.mcp_server_changes`,
  )
  const key = (one: { account: string; change: string }, when: Date) =>
    `${one.account} ${one.change} ${when.getTime()}`
  expect(all.map(one => key(one, one.at)).toSorted()).toEqual(
    rows.map(row => key(row, row.observed_at)).toSorted(),
  )
  expect(all.map(one => one.at)).toEqual(all.map(one => one.at).toSorted((a, b) => Number(b) - Number(a)))
  // However many are wanted, they are the first of all of them.
  for (let limit = 1; limit <= all.length; limit++) {
    expect(await Array.fromAsync(listChanges(store.pool, {}, limit))).toEqual(all.slice(0, limit))
  }
  const some = await Array.fromAsync(
    listChanges(store.pool, { since: new Date(at(3)), until: new Date(at(3)) }, null),
  )
  expect(some.map(one => `${one.account} ${one.change}`).toSorted()).toEqual([
    'a removed',
    'a removed',
    'b added',
    'b added',
  ])
})

test('of the last moment of all, the functions of history say what is known now', async () => {
  await using store = await openTestStore()
  await insertRule(store, { name: 'was', from: 1, to: 2 })
  await insertRule(store, { account: 'b', name: 'is', from: 2 })
  await insertFiring(store.pool, { account: 'b', from: at(3) })
  await insertServer(store, { name: 'was', from: 1, to: 2 })
  await insertServer(store, { account: 'b', name: 'is', from: 2 })
  const rules = texts(store, `account, name, triggered) from ferry.alert_rules_as_of('infinity')`)
  const servers = texts(store, `account, server_name) from ferry.mcp_servers_as_of('infinity')`)
  expect([await rules, await servers]).toEqual([['b is t'], ['b is']])
  const between = (a: string, b: string) =>
    texts(store, 'inventory, change, account, name) from ferry.changes_between($1, $2) order by 1', [a, b])
  expect(await between('-infinity', 'infinity')).toEqual(['alert-rules added b is', 'mcp-servers added b is'])
  expect(await between('infinity', '-infinity')).toEqual([
    'alert-rules removed b is',
    'mcp-servers removed b is',
  ])
  expect(await between(at(1), 'infinity')).toEqual([
    'alert-rules added b is',
    'alert-rules removed a was',
    'mcp-servers added b is',
    'mcp-servers removed a was',
  ])
  expect(await texts(store, `account) from ferry.alert_rules_as_of('-infinity')`)).toEqual([])
})

test('between any two moments, in either order, differs what they show differently', async () => {
  await using store = await openTestStore()
  const versions: readonly Hours[] = [
    { name: 'one', from: 1, to: 2 },
    { name: 'two', from: 2, to: 4 },
    { name: 'three', from: 5 },
    { account: 'b', name: 'one', from: 2, to: 3 },
  ]
  for (const version of versions) {
    await insertRule(store, version)
    await insertServer(store, version)
  }
  const shownAt = (hour: number) =>
    new Map(
      versions
        .filter(({ from, to = 99 }) => from <= hour && hour < to)
        .map(({ account = 'a', name }) => [account, name]),
    )
  for (const from of [0, 1, 2, 3, 4, 5]) {
    for (const to of [0, 1, 2, 3, 4, 5]) {
      const [before, after] = [shownAt(from), shownAt(to)]
      const expected = ['alert-rules', 'mcp-servers'].flatMap(inventory =>
        ['a', 'b'].flatMap(account => {
          const [old, now] = [before.get(account), after.get(account)]
          if (old === now) return []
          const change = old === undefined ? 'added' : now === undefined ? 'removed' : 'changed'
          return [`${inventory} ${change} ${account} ${now ?? old}`]
        }),
      )
      const found = texts(
        store,
        'inventory, change, account, name) from ferry.changes_between($1, $2) order by inventory, account',
        [at(from), at(to)],
      )
      expect(await found).toEqual(expected)
    }
  }
})
