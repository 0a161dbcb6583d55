import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Resource } from '#src/model/resource.ts'
import { OTHERS } from '#test/support/beside-others.ts'
import { copyToAccounts, leaveRoom } from '#test/support/copied-account.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { fillRichAccount } from '#test/support/rich-account.ts'
import { listSqlOutputs } from './sql-outputs.ts'

/*
 * What is said of one account, or of one inventory, is the same whatever another one does. All is asked in one transaction, so at one
 * moment.
 */

let harness: FerryHarness
beforeAll(async () => {
  harness = await openFerryHarness({ rules: 90, servers: 12 })
  await leaveRoom(harness.ferry.pool)
  await fillRichAccount(harness)
})
afterAll(() => harness[Symbol.asyncDispose]())

/** Runs in a transaction that is rolled back. */
async function inPassing(work: (client: PoolClient) => Promise<void>): Promise<void> {
  const client = await harness.ferry.pool.connect()
  try {
    await client.query('begin')
    await work(client)
  } finally {
    await client.query('rollback')
    client.release()
  }
}

type Said = Readonly<Record<string, readonly string[]>>

/** Ages that are those of the clock, not of the transaction. */
const AGES = ['age', 'firing_for', 'fired_for', 'on_for', 'off_for', 'days_observed']

/** The rows of each output as texts, in no order; `but` are outputs that are left out. */
async function askAll(client: PoolClient, where = 'true', but = /^$/): Promise<Said> {
  const said: Record<string, string[]> = {}
  const outputs = (await listSqlOutputs(client)).filter(({ name }) => !but.test(name))
  for (const { name, query } of outputs) {
    const { rows } = await client.query<{ row: string }>(
      `select row from (select to_jsonb(t) - $1::text[] as r, (to_jsonb(t) - $1::text[])::text as row from (${query}) t) s where ${where} order by row`,
      [AGES],
    )
    said[name] = rows.map(({ row }) => row)
  }
  return said
}

/** Those of which nothing was said, whatever their arguments were. */
function silentIn(said: Said): string[] {
  const byName = Map.groupBy(Object.entries(said), ([name]) => name.replace(/\(.*| (since|of) .*/, ''))
  return [...byName].flatMap(([name, all]) => (all.every(([, rows]) => rows.length === 0) ? [name] : []))
}

/** The first row of each output that is in one of the two only. */
function differencesBetween(one: Said, other: Said): Record<string, unknown> {
  const names = Object.keys(one).filter(name => JSON.stringify(one[name]) !== JSON.stringify(other[name]))
  return Object.fromEntries(
    names.map(name => [
      name,
      {
        lost: one[name]?.find(row => !other[name]?.includes(row)),
        new: other[name]?.find(row => !one[name]?.includes(row)),
      },
    ]),
  )
}

test('each view, function and report says the same of an account when there are others', async () => {
  await inPassing(async client => {
    const alone = await askAll(client)
    expect(silentIn(alone)).toEqual([])
    await copyToAccounts(client, OTHERS)
    const beside = await askAll(client)
    expect(differencesBetween(alone, beside)).toEqual({})
  })
})

/** The outputs that are of one inventory, among those whose rows do not say which. */
const OF: Readonly<Record<Resource, RegExp>> = {
  'alert-rules': /rule|firing|fired|silenced|editors|mass_edits|edits_by|cron_load|churn|episodes|to_clear/,
  'mcp-servers': /mcp/,
}

test.each([
  ['alert-rules', 'mcp-servers'],
  ['mcp-servers', 'alert-rules'],
] as const)('each says the same of %s without %s', async (resource, other) => {
  await inPassing(async client => {
    const said = async () => {
      const where = `coalesce(r ->> 'inventory', '${resource}') = '${resource}'`
      const rows = await askAll(client, where, RegExp(`inventory => '${other}'`))
      return Object.fromEntries(
        Object.entries(rows).filter(
          ([name, rows]) => OF[resource].test(name) || rows.some(row => row.includes('"inventory"')),
        ),
      )
    }
    const beside = await said()
    expect(Object.keys(beside).length).toBeGreaterThan(30)
    await client.query(WITHOUT[other])
    expect(differencesBetween(beside, await said())).toEqual({})
  })
})

const runsOf = (resource: Resource) => `
  delete from ferry.quarantined_rows where run_id in (select id from ferry.sync_runs where resource = '${resource}');
  delete from ferry.sync_runs where resource = '${resource}';
  delete from ferry.removal_holds where resource = '${resource}';
  delete from ferry.freshness_targets where resource = '${resource}';
  delete from ferry.platform_calls where operation = 'list-${resource}'`
const WITHOUT: Readonly<Record<Resource, string>> = {
  'alert-rules': `${runsOf('alert-rules')}; delete from ferry.alert_rule_versions; delete from ferry.alert_rule_firings`,
  'mcp-servers': `${runsOf('mcp-servers')}; delete from ferry.mcp_server_versions`,
}
