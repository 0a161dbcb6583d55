import { expect, test } from 'vitest'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/** A rule's versions, one for each name, each from one hour to the next; the last is current unless `ended`. */
async function insertRule(
  store: TestStore,
  id: bigint,
  names: readonly string[],
  ended = false,
): Promise<void> {
  for (const [n, name] of names.entries()) {
    const last = n === names.length - 1
    await store.pool.query(
      `insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, fingerprint, account_id,
         folder_id, name, labels, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id,
         creator_name, updater_id, updater_name, created_at, updated_at)
       values ('a', $1, $2::timestamptz, $3, 1, gen_random_uuid(), 1, 1, $4, '{}', 'prometheus', true, false, '* * * * *',
         0, 1, 'c', 1, 'u', 0, 0)`,
      [id, at(n), last && !ended ? null : at(n + 1), name],
    )
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
  await insertRule(store, 2n, ['gone after 1'], true)
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
  await insertRule(store, 2n, ['came and went'], true)
  await store.pool.query(
    `with again as (select * from ferry.alert_rule_versions where id = 2)
     insert into ferry.alert_rule_versions (account, id, valid_from, opened_by_run, fingerprint, account_id, folder_id,
       name, labels, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name,
       updater_id, updater_name, created_at, updated_at)
     select account, id, $1::timestamptz, 2, fingerprint, account_id, folder_id, name, labels, ds_type, enabled,
       debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name, updater_id, updater_name, created_at,
       updated_at from again`,
    [at(3)],
  )
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
