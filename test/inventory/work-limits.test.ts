import { expect, test } from 'vitest'
import { openFerryHarness } from '#test/support/ferry-harness.ts'

/** More rows than a run keeps in memory. */
const MANY = 4_500

test.each([
  ['limitLongWork', 'a run of few changes does not wait for one that writes while it reads', 10],
  ['limitWork', 'a run of many changes does not wait for one that writes at its end', MANY],
] as const)('with all places of %s taken, %s', async (limit, _what, rules) => {
  await using harness = await openFerryHarness({ rules }, { FERRY_WORKER_CONCURRENCY: '1' })
  const over = Promise.withResolvers<void>()
  const other = harness.ferry[limit](() => over.promise)
  expect(await harness.sync()).toMatchObject({ status: 'succeeded', added: rules })
  over.resolve()
  await other
})
