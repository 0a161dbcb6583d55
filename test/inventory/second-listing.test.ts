import { expect, test } from 'vitest'
import { syncInventory } from '#src/inventory/sync.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import {
  currentIds,
  ended,
  hand,
  type Listed,
  list,
  refused,
  rules,
  scriptedAccount,
  syncListed,
  upTo,
  withAccounts,
} from './scripted-account.ts'

type ListRules = PlatformClient['listAlertRules']
type Find = Parameters<ListRules>[1]

const SMALL = { rules: 0, servers: 0 }
const without = (...gone: number[]) => rules(upTo(20).filter(id => !gone.includes(id)))

test('what only the second listing lacks is kept, and the next run reads it', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  expect(await syncListed(harness, [without(1), without(1, 2)])).toMatchObject({
    status: 'succeeded',
    removed: 1,
    requests: 2,
  })
  expect(await currentIds(harness)).toEqual(upTo(20).slice(1))
  expect(await syncListed(harness, [without(1, 2)])).toMatchObject({ removed: 1, requests: 2 })
  expect(await currentIds(harness)).toEqual(upTo(20).slice(2))
})

test('what both listings lack is removed; what else the second says comes with the next run', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  const renamed = without(1).map(rule => ({ ...rule, name: 'renamed' }))
  expect(await syncListed(harness, [without(1), renamed])).toMatchObject({ removed: 1, changed: 0 })
  const [run] = await harness.query('select data_hashes from ferry.sync_runs order by id desc limit 1')
  expect(run!.data_hashes).toHaveLength(1)
  expect(await syncListed(harness, [without(1)])).toMatchObject({ requests: 1, unchanged: 19, changed: 0 })
  expect(await syncListed(harness, [renamed])).toMatchObject({ changed: 19 })
})

test('what only the first listing lacks is kept, and looked at again by the next run', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  expect(await syncListed(harness, [without(1), without()])).toMatchObject({ removed: 0, requests: 2 })
  expect(await currentIds(harness)).toEqual(upTo(20))
  expect(await syncListed(harness, [without(1)])).toMatchObject({ removed: 1, requests: 2 })
})

test('a second listing with a row nobody can name removes nothing; what the first brought is applied', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  const [nameless] = rules([30], { broken: 'without an id' })
  const added = rules([21])
  const result = await syncListed(harness, [
    [...without(1), ...added],
    [...without(1, 2), nameless!],
  ])
  expect(result).toMatchObject({
    status: 'partial',
    errorCode: 'ListingIncomplete',
    removed: 0,
    added: 1,
    quarantined: 0,
    requests: 2,
  })
  expect(await currentIds(harness)).toEqual(upTo(21))
  expect(await syncListed(harness, [[...without(1), ...added]])).toMatchObject({
    status: 'succeeded',
    removed: 1,
    requests: 2,
  })
})

test('the second listing decides how many are gone: the guard counts what both lack, of what is stored', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  // 15 are missing at first, which would be held; 10 are missing twice, which is as many as the guard allows.
  expect(await syncListed(harness, [rules([1, 2, 3, 4, 5]), rules(upTo(10))])).toMatchObject({
    status: 'succeeded',
    removed: 10,
  })
  expect(await currentIds(harness)).toEqual(upTo(10))
})

test('a rule set aside is there: it is neither removed nor a reason to read again', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  const broken = rules([1], { broken: 'with its id' })
  expect(await syncListed(harness, [[...without(1), ...broken]])).toMatchObject({
    status: 'succeeded',
    removed: 0,
    quarantined: 1,
    requests: 1,
  })
  // Missing at first and set aside then: it is not gone.
  expect(await syncListed(harness, [without(1), [...without(1), ...broken]])).toMatchObject({
    removed: 0,
    requests: 2,
  })
  expect(await currentIds(harness)).toEqual(upTo(20))
})

test('a first listing with a row nobody can name concludes nothing, however little is absent', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  const [nameless] = rules([30], { broken: 'without an id' })
  expect(await syncListed(harness, [[...without(1), nameless!], without(1)])).toMatchObject({
    status: 'partial',
    requests: 1,
    removed: 0,
    message: expect.stringContaining('nothing was removed'),
  })
  expect(await syncListed(harness, [without(1)])).toMatchObject({ status: 'succeeded', removed: 1 })
})

/** How a second listing does not confirm the first. */
const NOT_CONFIRMING: Readonly<
  Record<string, (rows: readonly Listed[], find: Find) => ReturnType<ListRules>>
> = {
  async *'is refused'() {
    yield ended(refused('AccessDenied'))
  },
  async *'is refused after its rows'(rows, find) {
    yield* hand(rows, find)
    yield ended(refused('AccessDenied'))
  },
  'has a row nobody can name': (rows, find) =>
    list([...rows, ...rules([99_999], { broken: 'without an id' })], find),
}

for (const [what, second] of Object.entries(NOT_CONFIRMING)) {
  // The changes of the larger one do not fit into memory before the second listing begins.
  test.each([20, 5_000])(
    `if a second listing ${what}, what is new and changed of %i rules is applied`,
    async size => {
      await using harness = await openFerryHarness(SMALL)
      await syncListed(harness, [rules(upTo(size), { name: 'old' })])
      const first = rules(upTo(size + 1).slice(1), { name: 'new', firing: true })
      const account = scriptedAccount('default', () => first)
      let calls = 0
      const listAlertRules: ListRules = (folder, find, context) =>
        ++calls === 2 ? second(first, find) : account.client.listAlertRules(folder, find, context)
      const context = withAccounts(harness, { ...account, client: { ...account.client, listAlertRules } })
      const sync = () =>
        syncInventory(
          context,
          { account: 'default', resource: 'alert-rules', trigger: 'manual' },
          new AbortController().signal,
        )
      expect(await sync()).toMatchObject({
        status: 'partial',
        added: 1,
        changed: size - 1,
        removed: 0,
        seen: size,
        requests: 2,
        message: expect.stringMatching(/^1 row was not listed.*nothing was removed/),
      })
      const stored = () =>
        harness.query(
          `select name, count(*)::int, (select count(*)::int from ferry.alert_rule_firings where ended is null) as firing
         from ferry.alert_rules group by name order by name`,
        )
      expect(await stored()).toEqual([
        { name: 'new', count: size, firing: size },
        { name: 'old', count: 1, firing: size },
      ])
      expect(await sync()).toMatchObject({
        status: 'succeeded',
        added: 0,
        changed: 0,
        removed: 1,
        requests: 2,
      })
      expect(await stored()).toEqual([{ name: 'new', count: size, firing: size }])
    },
  )
}
