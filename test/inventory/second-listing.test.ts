import { expect, test } from 'vitest'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { currentIds, rules, syncListed, upTo } from './scripted-account.ts'

const SMALL = { rules: 0, servers: 0 }
const without = (...gone: number[]) => rules(upTo(20).filter(id => !gone.includes(id)))

test('what only the second listing lacks is kept, and looked at again by the next run', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  expect(await syncListed(harness, [without(1), without(1, 2)])).toMatchObject({
    status: 'succeeded',
    removed: 1,
    requests: 2,
  })
  expect(await currentIds(harness)).toEqual(upTo(20).slice(1))
  // The data is that of the listing before, yet not taken for applied: rule 2 is still to be decided about.
  expect(await syncListed(harness, [without(1, 2)])).toMatchObject({ removed: 1, requests: 2 })
  expect(await currentIds(harness)).toEqual(upTo(20).slice(2))
})

test('what both listings lack is removed, and the data of the second then passes as applied', async () => {
  await using harness = await openFerryHarness(SMALL)
  await syncListed(harness, [without()])
  const renamed = without(1).map(rule => ({ ...rule, name: 'renamed' }))
  expect(await syncListed(harness, [without(1), renamed])).toMatchObject({ removed: 1, changed: 19 })
  const [run] = await harness.query('select data_hashes from ferry.sync_runs order by id desc limit 1')
  expect(run!.data_hashes).toHaveLength(1)
  expect(await syncListed(harness, [renamed])).toMatchObject({ requests: 1, unchanged: 19, changed: 0 })
  expect(await syncListed(harness, [without(1)])).toMatchObject({ changed: 19 })
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
