import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { oldHistory } from '#src/inventory/prune-history.ts'
import { saveSnapshot } from '#src/inventory/snapshot-table.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const ago = (days: number) => new Date(Date.now() - days * DAY_MS)

/** Removes what ended 30 days ago. Returns how many rows of versions of rules, of servers, of firings, and snapshots. */
async function prune(pool: Pool): Promise<number[]> {
  const removed: number[] = []
  for (const old of oldHistory(pool, 30 * DAY_MS)) removed.push(await removeOld(old))
  return removed
}

const asOf = async (pool: Pool, days: number) => {
  const { rows } = await pool.query('select name from ferry.alert_rules_as_of($1) order by name', [ago(days)])
  return rows.map(({ name }) => name)
}

test('versions and firings that ended long ago are removed; current ones stay, however old they are', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertRuleVersion(pool, { name: 'old', from: ago(50), to: ago(40) })
  await insertRuleVersion(pool, { name: 'older than the time', from: ago(40), to: ago(20) })
  await insertRuleVersion(pool, { name: 'current', id: '2', from: ago(400) })
  await insertServerVersion(pool, { name: 'old', from: ago(50), to: ago(40) })
  await insertServerVersion(pool, { name: 'current', from: ago(40) })
  await insertFiring(pool, { from: ago(50), to: ago(40) })
  await insertFiring(pool, { from: ago(39) })
  expect(await prune(pool)).toEqual([1, 1, 1, 0])
  expect(await prune(pool)).toEqual([0, 0, 0, 0])
  expect(await asOf(pool, 29)).toEqual(['current', 'older than the time'])
  expect(await asOf(pool, 0)).toEqual(['current'])
})

test('what ended before the history starts cannot be asked for, and has no snapshot', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertRuleVersion(pool, { name: 'old', from: ago(50), to: ago(40) })
  await insertRuleVersion(pool, { name: 'current', from: ago(40) })
  for (const days of [45, 35, 5]) {
    const run = {
      account: 'a',
      slot: null,
      status: 'succeeded',
      alertRulesRun: 1n,
      mcpServersRun: 1n,
    } as const
    const saved = await saveSnapshot(pool, run)
    await pool.query('update ferry.snapshots set taken_at = $2 where id = $1', [saved?.id, ago(days)])
  }
  expect(await asOf(pool, 45)).toEqual(['old'])
  expect(await prune(pool)).toEqual([1, 0, 0, 2])
  for (const days of [45, 31]) {
    await expect(asOf(pool, days)).rejects.toThrow(/^The history starts at .*: versions that ended before/)
    await expect(pool.query('select from ferry.mcp_servers_as_of($1)', [ago(days)])).rejects.toThrow()
  }
  expect(await asOf(pool, 29)).toEqual(['current'])
})

test('while nothing is removed, every moment can be asked for, and every snapshot stays', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertRuleVersion(pool, { name: 'current', from: ago(40) })
  const run = { account: 'a', slot: null, status: 'succeeded', alertRulesRun: 1n, mcpServersRun: 1n } as const
  await saveSnapshot(pool, run)
  await pool.query('update ferry.snapshots set taken_at = $1', [ago(39)])
  expect(await prune(pool)).toEqual([0, 0, 0, 0])
  expect(await asOf(pool, 35)).toEqual(['current'])
  expect(await asOf(pool, 400)).toEqual([])
})

test('nothing is removed without a time to keep it', async () => {
  await using store = await openTestStore()
  await insertRuleVersion(store.pool, { name: 'old', from: ago(500), to: ago(400) })
  for (const old of oldHistory(store.pool, null)) expect(await removeOld(old)).toBe(0)
  expect(await asOf(store.pool, 450)).toEqual(['old'])
})
