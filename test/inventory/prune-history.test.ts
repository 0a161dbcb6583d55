import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { countChanges, listChanges, loadChangePage } from '#src/inventory/history/changes.ts'
import { loadHistoryStart } from '#src/inventory/history/history-start.ts'
import { loadInventory } from '#src/inventory/history/list-inventory.ts'
import { saveSnapshot } from '#src/inventory/history/snapshots.ts'
import { oldHistory } from '#src/inventory/old-rows.ts'
import { insertVersions } from '#test/support/many-rows.ts'
import { DAY_MS, removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion, insertServerVersion } from '#test/support/versions.ts'

const ago = (days: number) => new Date(Date.now() - days * DAY_MS)

/** Removes what ended so many days ago. Returns how many rows of versions of rules, of servers, of firings, and snapshots. */
async function prune(pool: Pool, days = 30): Promise<number[]> {
  const removed: number[] = []
  for (const old of oldHistory(pool, days * DAY_MS)) removed.push(await removeOld(old))
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

test('changes from before the history starts are not shown: the first version that was kept is no addition', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const [first, second, third] = [ago(50), ago(40), ago(20)]
  await insertRuleVersion(pool, { name: 'first', from: first, to: second })
  await insertRuleVersion(pool, { name: 'second', from: second, to: third })
  await insertRuleVersion(pool, { name: 'third', from: third })
  await insertServerVersion(pool, { name: 'first', from: first, to: second })
  await insertServerVersion(pool, { name: 'second', from: second })
  const shown = async () => {
    const listed = await Array.fromAsync(listChanges(pool, {}, null))
    expect(await countChanges(pool, {}, 100)).toBe(listed.length)
    const { changes } = await loadChangePage(pool, {}, null, 100)
    expect(changes.map(({ name }) => name)).toEqual(listed.map(({ name }) => name))
    return listed.map(({ change, name }) => `${change} ${name}`)
  }
  expect(await loadHistoryStart(pool)).toBeNull()
  expect(await shown()).toHaveLength(5)
  expect(await prune(pool)).toEqual([1, 1, 0, 0])
  expect(await loadHistoryStart(pool)).toEqual(expect.any(Date))
  expect(await shown()).toEqual(['changed third'])
  const inView = await pool.query('select change, name from ferry.alert_rule_changes')
  expect(inView.rows).toEqual([{ change: 'changed', name: 'third' }])
  const between = (days: number) =>
    pool.query('select change, name from ferry.changes_between($1, now())', [ago(days)])
  await expect(between(35)).rejects.toThrow(/^The history starts at/)
  expect((await between(25)).rows).toEqual([{ change: 'changed', name: 'third' }])
  for (const asOf of [ago(35), ago(45)]) {
    await expect(loadInventory(pool, 'alert-rules', '1', { asOf })).rejects.toThrow(/^The history starts at/)
  }
  expect(await loadInventory(pool, 'alert-rules', '1', { asOf: ago(25) })).toMatchObject([{ name: 'second' }])
})

test('a history that starts late does not start earlier once more is kept', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await insertRuleVersion(pool, { name: 'old', from: ago(50), to: ago(40) })
  await prune(pool)
  const start = await loadHistoryStart(pool)
  await insertRuleVersion(pool, { name: 'of a clock that was set back', id: '2', from: ago(90), to: ago(80) })
  expect(await prune(pool, 60)).toEqual([1, 0, 0, 0])
  expect(await loadHistoryStart(pool)).toEqual(start)
})

test.for([5_000, 5_001, 10_000])('%i versions that ended long ago are all removed', async count => {
  await using store = await openTestStore()
  const { pool } = store
  // Ten of eleven have ended.
  await insertVersions(pool, Math.floor((count * 11) / 10))
  expect(await prune(pool, 10)).toEqual([count, 0, 0, 0])
  expect(await asOf(pool, 0)).toHaveLength(Math.floor(count / 10))
})
