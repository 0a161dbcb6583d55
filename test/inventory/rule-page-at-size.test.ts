import { Pool } from 'pg'
import { expect, test } from 'vitest'
import { loadRulePage, type RuleFilter } from '#src/inventory/history/rule-page.ts'
import { openTestStore } from '#test/support/store.ts'

const RULES = 2_000
const HELD_AT = new Date(Date.UTC(2026, 0, 1, 12))

/** Each rule changed at 6:00 and at 11:00. At 18:00 one in twenty changed, the others were removed. One in a hundred fires. */
const FILL = `
  insert into ferry.alert_rule_versions (account, id, valid_from, valid_to, opened_by_run, closed_by_run, name, fingerprint, account_id,
    folder_id, ds_type, enabled, debug_log_enabled, cron_pattern, delay_seconds, creator_id, creator_name, updater_id, updater_name,
    created_at, updated_at)
  select 'a', rule, at, until, 1, case when until is not null then 2 end, 'Rule ' || rule, md5(rule || '')::uuid, 1,
    rule % 50, 'prometheus', true, false, '* * * * *', 0, 1, 'Grace', 1, 'Ada', 0, 0
  from generate_series(1, ${RULES}) as rule, (values
    (timestamptz '2026-01-01 00:00Z', timestamptz '2026-01-01 06:00Z'), ('2026-01-01 06:00Z', '2026-01-01 11:00Z'),
    ('2026-01-01 11:00Z', '2026-01-01 18:00Z'), ('2026-01-01 18:00Z', null)) as versions (at, until)
  where until is not null or rule % 20 = 0
  order by at, rule;
  insert into ferry.alert_rule_firings (account, id, began, began_run)
  select 'a', rule, '2026-01-01 09:00Z', 1 from generate_series(100, ${RULES}, 100) as rule`

/** How often Postgres has looked into a table in this transaction, and how many of its rows it has read. */
const WORK = `
  select (seq_scan + idx_scan)::int as looks, (seq_tup_read + idx_tup_fetch)::int as read
  from pg_stat_xact_user_tables where relid = $1::regclass`

/** How often Postgres looks into a table for a page, and how many of its rows it reads. */
async function workOf(url: string, table: string, filter: RuleFilter) {
  const pool = new Pool({ connectionString: url, max: 1 })
  try {
    await pool.query('begin')
    const { rows } = await loadRulePage(pool, filter, null, 50)
    expect(rows).toHaveLength(50)
    return (await pool.query<{ looks: number; read: number }>(WORK, [table])).rows[0]!
  } finally {
    await pool.end()
  }
}

test('a page of many rules reads what held at the moment, and looks for the firings of all at once', async () => {
  await using store = await openTestStore()
  await store.pool.query(FILL)
  await store.pool.query('vacuum analyze ferry.alert_rule_versions, ferry.alert_rule_firings')
  for (const asOf of [undefined, HELD_AT]) {
    // One for each row that is shown, and one or two for all.
    const { looks } = await workOf(store.url, 'ferry.alert_rule_firings', { firing: false, asOf })
    expect(looks).toBeLessThan(60)
  }
  const { read } = await workOf(store.url, 'ferry.alert_rule_versions', { asOf: HELD_AT, words: 'rule' })
  expect(read).toBeLessThan(RULES + 200)
})
