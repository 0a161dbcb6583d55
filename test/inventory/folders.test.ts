import { expect, test } from 'vitest'
import { alertRules } from '#src/inventory/alert-rules.ts'
import type { InventoryAccount } from '#src/inventory/context.ts'
import { readSource } from '#src/inventory/read/reading.ts'
import { loadRun } from '#src/inventory/runs/list-runs.ts'
import { syncInventory } from '#src/inventory/sync.ts'
import type { Drift } from '#src/model/listing.ts'
import { BEGINS } from '#src/platform/listing.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import {
  currentIds,
  ended,
  hand,
  list,
  refused,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const NEVER = new AbortController().signal
const BOTH = { folders: [1n, 2n] }

/** An account whose folders drift so. */
function drifting(drift: ReadonlyMap<bigint, readonly Drift[]>): InventoryAccount {
  const account = scriptedAccount('default', () => [])
  return {
    ...account,
    client: {
      ...account.client,
      async *listAlertRules(folder, find, context) {
        for await (const step of account.client.listAlertRules(folder, find, context)) {
          if (step.kind !== 'ended' || !step.answer.ok) yield step
          else {
            const data = { ...step.answer.data, dataHash: `${folder}`, drift: drift.get(folder) ?? [] }
            yield ended({ ...step.answer, data })
          }
        }
      },
    },
  }
}

test('drift of several folders is told once for each field and type, and each folder has its hash', async () => {
  await using harness = await openFerryHarness(SMALL)
  const field = (type: string) => ({ field: 'env', type })
  const account = drifting(
    new Map([
      [1n, [field('object')]],
      [2n, [field('object'), field('string')]],
    ]),
  )
  const source = alertRules(account, [1n, 2n])
  const request = { runId: null, signal: NEVER, changes: null }
  const reading = await readSource(harness.ferry.pool, source, 'default', source.createListedRows(), request)
  expect(reading).toMatchObject({ drift: [field('object'), field('string')], dataHashes: ['1', '2'] })
})

test('positions of quarantined rows are counted through all folders, known rows included', async () => {
  await using harness = await openFerryHarness(SMALL)
  const nameless = { broken: 'with its id' as const, folder: 2n }
  const sound = rules([1, 2, 3])
  await syncListed(harness, [sound], BOTH)
  const run = await syncListed(
    harness,
    [
      [
        ...sound,
        ...rules([4], { broken: 'with its id' }),
        ...rules([5], { folder: 2n }),
        ...rules([6], nameless),
      ],
    ],
    BOTH,
  )
  expect(run).toMatchObject({ seen: 6, added: 1, quarantined: 2, unchanged: 3 })
  const shown = await loadRun(harness.ferry.pool, run.run)
  expect(shown?.quarantined.map(({ id, position }) => [id, position])).toEqual([
    ['4', 3],
    ['6', 5],
  ])
})

test('a repeated id is quarantined, with where the row is that is used; nothing after a broken row with its id is', async () => {
  await using harness = await openFerryHarness(SMALL)
  const again = { name: 'again' }
  const run = await syncListed(
    harness,
    [
      [
        ...rules([1, 2]),
        ...rules([1], again),
        ...rules([3], { broken: 'with its id' }),
        ...rules([3], again),
        ...rules([2, 3], { folder: 2n, name: 'in another folder' }),
      ],
    ],
    BOTH,
  )
  const shown = await loadRun(harness.ferry.pool, run.run)
  expect(shown?.quarantined.map(({ id, reason }) => [id, reason])).toEqual([
    ['1', 'a row with the same id came before it'],
    ['3', 'broken'],
    ['3', 'a row with the same id came before it'],
    ['2', 'the same id came in the listing of another folder; that row is used'],
  ])
  expect(await harness.query('select id::int, name from ferry.alert_rules order by id')).toEqual([
    { id: 1, name: 'rule 1' },
    { id: 2, name: 'rule 2' },
    { id: 3, name: 'in another folder' },
  ])
})

test('a row set aside in one folder is there, as long as its id can be read', async () => {
  await using harness = await openFerryHarness(SMALL)
  const second = rules([2, 3], { folder: 2n })
  await syncListed(harness, [[...rules([1]), ...second]], BOTH)
  const broken = rules([1], { broken: 'with its id' })
  expect(await syncListed(harness, [[...broken, ...second]], BOTH)).toMatchObject({
    status: 'succeeded',
    quarantined: 1,
    removed: 0,
  })
})

test('of an attempt at a folder that was cut off nothing is stored, even if nothing took its place', async () => {
  await using harness = await openFerryHarness(SMALL)
  // More than is held in memory: it is written while the listing is being read.
  const cutOff = rules(upTo(6_000))
  const account = scriptedAccount('default', () => [])
  const { client } = account
  const listAlertRules: typeof client.listAlertRules = async function* (folder, find) {
    if (folder === 1n) yield* hand(cutOff, find)
    yield* list(folder === 1n ? [] : rules([7_001], { folder }), find)
  }
  const run = await syncInventory(
    withAccounts(harness, { ...account, client: { ...client, listAlertRules } }),
    { account: 'default', resource: 'alert-rules', trigger: 'manual', ...BOTH },
    NEVER,
  )
  expect(run).toMatchObject({ status: 'succeeded', seen: 1, added: 1 })
  expect(await currentIds(harness)).toEqual([7_001])
})

test('once a folder is refused no others are asked, and all calls that were made are counted', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  harness.sandbox.state.inject({ kind: 'error', code: 'Unauthorized' })
  const folders = Array.from({ length: 120 }, (_, n) => BigInt(n + 1))
  const account = harness.ferry.accounts.get('default')!
  const context = withAccounts(harness, { ...account, folders })
  const result = await syncInventory(
    context,
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    NEVER,
  )
  expect(result).toMatchObject({ status: 'failed', errorCode: 'Unauthorized' })
  expect(result.requests).toBeLessThanOrEqual(50)
  expect(harness.sandbox.state.received.length).toBeLessThanOrEqual(result.requests)
})

test('what the folders that are left throw is not why a run failed', async () => {
  await using harness = await openFerryHarness(SMALL)
  const account = scriptedAccount('default', () => [])
  const listAlertRules: typeof account.client.listAlertRules = async function* (_folder, _find, { signal }) {
    try {
      yield BEGINS
      yield ended(refused('AccessDenied'))
    } finally {
      signal.throwIfAborted()
    }
  }
  const client = { ...account.client, listAlertRules }
  const context = withAccounts(harness, { ...account, client, folders: [1n, 2n, 3n] })
  const result = await syncInventory(
    context,
    { account: 'default', resource: 'alert-rules', trigger: 'manual' },
    NEVER,
  )
  expect(result).toMatchObject({ status: 'failed', errorCode: 'AccessDenied' })
})
