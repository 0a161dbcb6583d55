import type { PoolClient } from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { allChecks } from '#src/cli/verify/checks.ts'
import { findBroken } from '#src/db/verify.ts'
import { SMALL } from '#test/inventory/known-rules.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { brokenPromises } from '#test/support/verify.ts'
import { IMPORT_DAMAGES } from './import-damages.ts'
import { INVENTORY_DAMAGES } from './inventory-damages.ts'
import { tellStory } from './story.ts'

/*
 * Each check is given just the damage that it is to find, as the owner of the tables, in a transaction that is rolled back.
 */

const WINDOWS = [{ maxCalls: 1_000, windowMs: 1_000 }]
const LIMITS = [{ account: 'default', operation: 'import-subscribers', windows: WINDOWS }]

let harness: FerryHarness

beforeAll(async () => {
  harness = await openFerryHarness(SMALL)
  await tellStory(harness)
})

afterAll(() => harness[Symbol.asyncDispose]())

test('what Ferry has done breaks no promise', async () => {
  const of = async (table: string) => (await harness.query(`select from ferry.${table}`)).length
  for (const table of [
    'alert_rule_firings',
    'removal_holds',
    'snapshots',
    'quarantined_rows',
    'import_rejects',
  ]) {
    expect(await of(table), table).toBeGreaterThan(0)
  }
  expect(await brokenPromises(harness.ferry.pool, allChecks(LIMITS))).toEqual([])
})

const DAMAGES = [...INVENTORY_DAMAGES, ...IMPORT_DAMAGES]

test.each(DAMAGES)('%s: the row that breaks it is named (damage %#)', async (name, damage, found) => {
  const client = await harness.ferry.pool.connect()
  try {
    await client.query('begin')
    await client.query(damage)
    const broken = await brokenIn(client)
    expect(broken.get(name)?.join('\n')).toMatch(found)
  } finally {
    await client.query('rollback')
    client.release()
  }
})

test('each check is damaged', () => {
  const damaged = new Set(DAMAGES.map(([name]) => name))
  expect(
    allChecks([])
      .map(({ name }) => name)
      .filter(name => !damaged.has(name)),
  ).toEqual([])
})

async function brokenIn(client: PoolClient): Promise<ReadonlyMap<string, readonly string[]>> {
  const broken = new Map<string, string[]>()
  for (const check of allChecks(LIMITS)) {
    for await (const found of findBroken(client, check)) {
      broken.set(check.name, [...(broken.get(check.name) ?? []), found])
    }
  }
  return broken
}
