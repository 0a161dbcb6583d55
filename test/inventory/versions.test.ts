import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { closeVersions } from '#src/inventory/publish/versions.ts'
import { ALERT_RULE_VERSIONS } from '#src/inventory/versioned-tables.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { insertRuleVersion } from '#test/support/versions.ts'

/** A rule's versions, one for each name, each from one hour to the next; the last is current unless `ended`. */
async function insertRule(
  store: TestStore,
  id: bigint,
  names: readonly string[],
  { ended = false, from = 0 } = {},
): Promise<void> {
  for (const [n, name] of names.entries()) {
    const last = n === names.length - 1
    const to = last && !ended ? undefined : at(from + n + 1)
    await insertRuleVersion(store.pool, { id, name, from: at(from + n), to })
  }
}

const at = (hour: number) => new Date(Date.UTC(2026, 0, 1, hour))

async function planOf(store: TestStore, sql: string): Promise<string> {
  const { rows } = await store.pool.query<{ 'QUERY PLAN': string }>(`explain ${sql}`)
  return rows.map(row => row['QUERY PLAN']).join('\n')
}

test('the database itself allows one current version a rule, and no interval that ends before it begins', async () => {
  await using store = await openTestStore()
  await insertRule(store, 1n, ['first', 'second'])
  await expect(insertRule(store, 1n, ['another current one'])).rejects.toThrow(/alert_rule_versions/)
  await expect(
    store.pool.query(`update ferry.alert_rule_versions set valid_to = valid_from where valid_to is null`),
  ).rejects.toThrow(/alert_rule_versions_interval/)
})

test('as-of shows each rule as it was at that instant: from its first moment, no longer at its last', async () => {
  await using store = await openTestStore()
  await insertRule(store, 2n ** 64n - 1n, ['at 0', 'at 1'])
  await insertRule(store, 2n, ['gone after 1'], { ended: true })
  const names = async (instant: Date) => {
    const { rows } = await store.pool.query(
      'select id, name from ferry.alert_rules_as_of($1) order by id desc',
      [instant],
    )
    return rows.map(row => `${row.id} ${row.name}`)
  }
  expect(await names(new Date(at(0).getTime() - 1))).toEqual([])
  expect(await names(at(0))).toEqual(['18446744073709551615 at 0', '2 gone after 1'])
  expect(await names(at(1))).toEqual(['18446744073709551615 at 1'])
})

test('as-of is inlined, so that a condition on the folder reaches the index', async () => {
  await using store = await openTestStore()
  const plan = await planOf(store, `select * from ferry.alert_rules_as_of('2026-01-01') where folder_id = 7`)
  expect(plan).toContain('alert_rule_versions')
  expect(plan).not.toContain('Function Scan')
  expect(await planOf(store, `select * from ferry.mcp_servers_as_of('2026-01-01')`)).not.toContain(
    'Function Scan',
  )
})

test('the change view tells added, changed, removed and returned apart, with what differs', async () => {
  await using store = await openTestStore()
  await insertRule(store, 1n, ['old name', 'new name'])
  await insertRule(store, 2n, ['came and went'], { ended: true })
  await insertRule(store, 2n, ['came and went'], { from: 3 })
  const { rows } = await store.pool.query(
    'select id, change, before, after from ferry.alert_rule_changes order by id, observed_at',
  )
  expect(rows).toEqual([
    { id: '1', change: 'added', before: null, after: null },
    { id: '1', change: 'changed', before: { name: 'old name' }, after: { name: 'new name' } },
    { id: '2', change: 'added', before: null, after: null },
    { id: '2', change: 'removed', before: null, after: null },
    { id: '2', change: 'returned', before: null, after: null },
  ])
})

test('a version that is to be ended and is not there is a fault, and ended ones stay as they are', async () => {
  await using store = await openTestStore()
  await insertRule(store, 1n, ['first', 'second'])
  const run = { account: 'a', runId: 9n, at: at(5).toISOString() }
  const close = (...ids: string[]) =>
    inTransaction(store.pool, client => closeVersions(client, ALERT_RULE_VERSIONS, run, ids))
  await expect(close('1', '2')).rejects.toThrow(
    '2 versions were to be closed in ferry.alert_rule_versions, and 1 could be',
  )
  await close('1')
  await expect(close('1')).rejects.toThrow('1 version was to be closed')
  const { rows } = await store.pool.query(
    'select closed_by_run::int as by from ferry.alert_rule_versions order by valid_from',
  )
  expect(rows).toEqual([{ by: 2 }, { by: 9 }])
})

test('no versions cost no statement: most blocks of a listing change nothing', async () => {
  const run = { account: 'acme', runId: 1n, at: '2026-01-01' }
  const never = {} as never
  await closeVersions(never, ALERT_RULE_VERSIONS, run, [])
})
