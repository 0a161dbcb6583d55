import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import {
  insertFiring,
  insertRuleVersion,
  insertServerVersion,
  type NamedSpan,
} from '#test/support/versions.ts'

/*
 * The same stories told of rules and of servers: each is a row with a name from one hour to another, in an account. Two
 * accounts have the same id.
 */

type Version = {
  readonly account?: string
  readonly id?: number
  readonly name: string
  readonly from: number
  /** Absent for the current one. */
  readonly to?: number
}

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour)).toISOString()

const KINDS = {
  rules: {
    asOf: 'ferry.alert_rules_as_of',
    current: 'ferry.alert_rules',
    changes: 'ferry.alert_rule_changes',
    id: 'id',
    name: 'name',
    insert: insertRuleVersion,
  },
  servers: {
    asOf: 'ferry.mcp_servers_as_of',
    current: 'ferry.mcp_servers',
    changes: 'ferry.mcp_server_changes',
    id: 'server_id',
    name: 'server_name',
    insert: (pool: Pool, version: NamedSpan) =>
      insertServerVersion(pool, {
        ...version,
        tools: [{ name: `${version.name} tool`, description: 'does it' }],
      }),
  },
} as const

for (const [
  kind,
  { asOf, current, changes, id: idOf, name: nameOf, insert: insertVersion },
] of Object.entries(KINDS)) {
  const insert = async (store: TestStore, ...rows: readonly Version[]) => {
    for (const { id = 1, from, to, ...version } of rows) {
      await insertVersion(store.pool, {
        ...version,
        id: `${id}`,
        from: at(from),
        openedBy: from,
        ...(to !== undefined && { to: at(to), closedBy: to }),
      })
    }
  }
  const asOfHour = async (store: TestStore, instant: string) => {
    const { rows } = await store.pool.query(
      `select account, ${nameOf} as name from ${asOf}($1) order by account, ${idOf}`,
      [instant],
    )
    return rows.map(row => `${row.account} ${row.name}`)
  }
  const changesOf = async (store: TestStore) => {
    const { rows } = await store.pool.query(
      `select account, change, ${nameOf} as name, before, after, run_id, extract(hour from observed_at at time zone 'UTC')::int as hour
       from ${changes} order by account, ${idOf}, observed_at`,
    )
    return rows
  }

  test(`${kind}: a version is there from its first instant on and no longer at its last`, async () => {
    await using store = await openTestStore()
    await insert(store, { name: 'first', from: 1, to: 2 }, { name: 'second', from: 2, to: 3 })
    await insert(store, { id: 2, name: 'another', from: 1 })
    expect(await asOfHour(store, '2026-01-01T00:59:59.999999Z')).toEqual([])
    expect(await asOfHour(store, at(1))).toEqual(['a first', 'a another'])
    expect(await asOfHour(store, '2026-01-01T01:59:59.999999Z')).toEqual(['a first', 'a another'])
    expect(await asOfHour(store, at(2))).toEqual(['a second', 'a another'])
    expect(await asOfHour(store, at(3))).toEqual(['a another'])
    expect(await asOfHour(store, '2099-01-01')).toEqual(['a another'])
  })

  test(`${kind}: one id in two accounts is two histories`, async () => {
    await using store = await openTestStore()
    await insert(
      store,
      { account: 'a', name: 'of a', from: 1, to: 4 },
      { account: 'b', name: 'of b', from: 2, to: 3 },
      { account: 'b', name: 'of b now', from: 4 },
    )
    expect(await asOfHour(store, at(2))).toEqual(['a of a', 'b of b'])
    expect(await asOfHour(store, at(3))).toEqual(['a of a'])
    const { rows } = await store.pool.query(`select account, ${nameOf} as name from ${current}`)
    expect(rows).toEqual([{ account: 'b', name: 'of b now' }])
    const told = (await changesOf(store)).map(({ account, change, hour }) => `${account} ${change} ${hour}`)
    // At 4 the one of a ends as that of b begins again: neither is the other's continuation.
    expect(told).toEqual(['a added 1', 'a removed 4', 'b added 2', 'b removed 3', 'b returned 4'])
  })

  test(`${kind}: added, changed, removed and returned, with what differs from the version just before`, async () => {
    await using store = await openTestStore()
    await insert(
      store,
      { name: 'one', from: 1, to: 2 },
      { name: 'two', from: 2, to: 3 },
      { name: 'one', from: 3, to: 4 },
      { name: 'three', from: 6 },
    )
    const tools = (name: string) =>
      kind === 'servers' ? { tools: [{ name: `${name} tool`, description: 'does it' }] } : {}
    const from = (name: string) => ({ [nameOf]: name, ...tools(name) })
    expect(await changesOf(store)).toMatchObject([
      { change: 'added', name: 'one', before: null, after: null, run_id: '1', hour: 1 },
      { change: 'changed', name: 'two', before: from('one'), after: from('two'), run_id: '2', hour: 2 },
      { change: 'changed', name: 'one', before: from('two'), after: from('one'), run_id: '3', hour: 3 },
      { change: 'removed', name: 'one', before: null, after: null, run_id: '4', hour: 4 },
      { change: 'returned', name: 'three', before: from('one'), after: from('three'), run_id: '6', hour: 6 },
    ])
    const [, changed] = await changesOf(store)
    expect(Object.keys(changed.after).sort()).toEqual(Object.keys(from('')).sort())
  })
}

test('firing: an episode belongs to one account, from its first instant on and no longer at its last', async () => {
  await using store = await openTestStore()
  for (const account of ['a', 'b', 'c']) {
    await insertRuleVersion(store.pool, { account, name: `rule of ${account}`, from: at(0) })
  }
  await insertFiring(store.pool, { account: 'a', from: at(1), to: at(2) })
  await insertFiring(store.pool, { account: 'a', from: at(3) })
  await insertFiring(store.pool, { account: 'c', from: at(1), to: at(2) })
  const firingAt = async (instant: string) => {
    const { rows } = await store.pool.query(
      'select account from ferry.alert_rules_as_of($1) where triggered order by account',
      [instant],
    )
    return rows.map(row => row.account)
  }
  expect(await firingAt('2026-01-01T00:59:59.999999Z')).toEqual([])
  expect(await firingAt(at(1))).toEqual(['a', 'c'])
  expect(await firingAt('2026-01-01T01:59:59.999999Z')).toEqual(['a', 'c'])
  expect(await firingAt(at(2))).toEqual([])
  expect(await firingAt(at(3))).toEqual(['a'])
  expect((await store.pool.query('select account from ferry.alert_rules where triggered')).rows).toEqual([
    { account: 'a' },
  ])
  const now = await store.pool.query('select account, name, began from ferry.alert_rules_firing')
  expect(now.rows).toEqual([{ account: 'a', name: 'rule of a', began: new Date(at(3)) }])
})

test('the tools are those of the current servers, in their order', async () => {
  await using store = await openTestStore()
  const server = { name: 'Server', from: at(1), tools: [{ name: 'b' }, { name: 'a', description: 'x' }] }
  await insertServerVersion(store.pool, { ...server, id: 'gone', to: at(2) })
  await insertServerVersion(store.pool, { ...server, id: 'here' })
  const { rows } = await store.pool.query(
    'select server_id, position, name, description from ferry.mcp_server_tools order by server_id, position',
  )
  expect(rows).toEqual([
    { server_id: 'here', position: '1', name: 'b', description: null },
    { server_id: 'here', position: '2', name: 'a', description: 'x' },
  ])
})
