import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { oldRuns } from '#src/inventory/old-rows.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { removeOld } from '#test/support/prune.ts'
import { addRun, ageRuns } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertRuleVersion } from '#test/support/versions.ts'

describe('ferry.require_fresh', () => {
  test('returns true for data that is young enough, and raises with one sentence for older data', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const run = await addRun(pool)
    const { rows } = await pool.query(`select ferry.require_fresh('alert-rules', '5 minutes') as fresh`)
    expect(rows).toEqual([{ fresh: true }])
    await ageRuns(pool, '7 minutes', run)
    await expect(pool.query(`select ferry.require_fresh('alert-rules', '5 minutes')`)).rejects.toThrow(
      /^The alert-rules of account 'default' are too old: they were last read completely at .+ \(00:07:0\d ago\), and may be 00:05:00 old\.$/,
    )
    await pool.query(`select ferry.require_fresh('alert-rules', '8 minutes')`)
    await ageRuns(pool, '-1 hour', run)
    await expect(pool.query(`select ferry.require_fresh('alert-rules', '5 minutes')`)).rejects.toThrow(
      /^The alert-rules .* were last read completely at .+, which is 00:52:5\d in the future: the clock was set back\.$/,
    )
  })

  test('judges one account, or without one each: the oldest decides', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const old = await addRun(pool, { account: `o'ld` })
    await ageRuns(pool, '1 day', old)
    await addRun(pool, { account: 'young' })
    const require = (account: string | null) =>
      pool.query(`select ferry.require_fresh('alert-rules', '1 hour', $1)`, [account])
    await require('young')
    await expect(require(null)).rejects.toThrow(`of account 'o''ld' are too old`)
    await expect(require(`o'ld`)).rejects.toThrow('too old')
    await expect(require('other')).rejects.toThrow(
      `The alert-rules of account 'other' were never read completely.`,
    )
    await pool.query(`select ferry.require_fresh('alert-rules', '1 hour', account => 'young')`)
  })

  test('knows an account that was taken away, by name and among all, however old its runs are', async () => {
    await using store = await openTestStore()
    const { pool } = store
    await saveFreshnessTargets(pool, [{ ...FRESHNESS_TARGET, account: 'away' }])
    await addRun(pool, { account: 'away', end: { seen: 3, added: 3 } })
    await addRun(pool, { account: 'away' })
    await addRun(pool, { account: 'never read', end: { status: 'failed', appliedAt: null } })
    await ageRuns(pool, '400 days')
    await addRun(pool, { account: 'here' })
    const require = (account: string | null) =>
      pool.query(`select ferry.require_fresh('alert-rules', '1 hour', $1)`, [account])
    // As operators take an account away: see `explainLateness`.
    await pool.query(`delete from ferry.freshness_targets where account = 'away'`)
    await removeOld(oldRuns(pool, 90 * 86_400_000))
    await expect(require('away')).rejects.toThrow(`The alert-rules of account 'away' are too old`)
    await expect(require('never read')).rejects.toThrow('never read completely')
    await expect(require(null)).rejects.toThrow('too old')
    await require('here')
    const { rows } = await pool.query('select account from ferry.inventories order by 1')
    expect(rows.map(row => row.account)).toContain('away')
  })

  test('raises where nothing was read, and for an inventory or an age that is none', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const require = (inventory: string | null, age: string | null) =>
      pool.query('select ferry.require_fresh($1, $2)', [inventory, age])
    await expect(require('mcp-servers', '1 day')).rejects.toThrow(
      'of every account were never read completely',
    )
    await addRun(pool, { end: { status: 'partial' } })
    await expect(require('alert-rules', '1 day')).rejects.toThrow('were never read completely')
    await expect(require(`rules'; drop`, '1 day')).rejects.toThrow(
      `Unknown inventory 'rules''; drop'; the inventories are alert-rules and mcp-servers.`,
    )
    await expect(require(null, '1 day')).rejects.toThrow('Unknown inventory null')
    await expect(require('alert-rules', null)).rejects.toThrow('how old the data may be')
    await expect(require('alert-rules', '-1 day')).rejects.toThrow('how old the data may be')
  })

  test('in WHERE it raises although no row is there, and is asked once however many there are', async () => {
    await using store = await openTestStore()
    const { pool } = store
    const run = await addRun(pool)
    await ageRuns(pool, '1 hour', run)
    const firing = (age: string) =>
      pool.query(
        `select count(*)::int from ferry.alert_rules where triggered and ferry.require_fresh('alert-rules', '${age}')`,
      )
    await expect(firing('5 minutes')).rejects.toThrow('too old')
    for (let rule = 1; rule <= 3; rule++) {
      await insertRuleVersion(pool, { name: `r${rule}`, from: new Date(rule * 1_000).toISOString() }).catch(
        () => {},
      )
    }
    const plan = await pool.query<{ 'QUERY PLAN': string }>(
      `explain select * from ferry.alert_rules where ferry.require_fresh('alert-rules', '2 hours')`,
    )
    expect(plan.rows.map(row => row['QUERY PLAN']).join('\n')).toContain('One-Time Filter')
  })

  test('is asked again by a prepared statement with a generic plan, and in a view', async () => {
    await using store = await openTestStore()
    const { pool, url } = store
    const run = await addRun(pool)
    await using client = Object.assign(new Client({ connectionString: url }), {
      [Symbol.asyncDispose]: () => client.end(),
    })
    await client.connect()
    await client.query(`set plan_cache_mode = force_generic_plan`)
    await client.query(
      `prepare counted (interval) as select count(*) from ferry.sync_runs where ferry.require_fresh('alert-rules', $1)`,
    )
    await client.query(
      `create view public.counted as select count(*) from ferry.sync_runs where ferry.require_fresh('alert-rules', '5 minutes')`,
    )
    for (const query of [`execute counted ('5 minutes')`, 'select * from public.counted']) {
      expect((await client.query(query)).rows).toEqual([{ count: '1' }])
    }
    await ageRuns(pool, '6 minutes', run)
    for (const query of [`execute counted ('5 minutes')`, 'select * from public.counted']) {
      await expect(client.query(query)).rejects.toThrow('too old')
    }
  })
})
