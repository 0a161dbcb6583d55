import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import type { Limit } from '#src/model/limit.ts'
import { openImportHarness } from '../import-harness.ts'
import { claimerOf } from './claimer.ts'

const limitOf = (key: string): Limit => ({ limitKey: key, windows: [{ maxCalls: 1, windowMs: 30_000 }] })

test('imports of two accounts that share a limit take turns', async () => {
  await using harness = await openImportHarness()
  const shared = limitOf('group:shared')
  const [first, second] = [await claimerOf(harness, 'one', shared), await claimerOf(harness, 'two', shared)]
  expect(await first.claim()).toBe('claimed')
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await first.leaveWindow()
  expect([await first.claim(), await second.claim()]).toEqual(['wait', 'claimed'])
  expect(await harness.query('select count(*)::int from ferry.platform_calls')).toEqual([{ count: 2 }])
})

test('imports of two accounts with limits of their own do not wait for each other', async () => {
  await using harness = await openImportHarness()
  const first = await claimerOf(harness, 'one', limitOf('account:one'))
  const second = await claimerOf(harness, 'two', limitOf('account:two'))
  expect([await first.claim(), await second.claim()]).toEqual(['claimed', 'claimed'])
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await first.leaveWindow()
  await second.leaveWindow()
  expect([await second.claim(), await first.claim()]).toEqual(['claimed', 'claimed'])
})

test('imports that wait for a closed limit ask once a second, not all the time', async () => {
  await using harness = await openImportHarness({}, { FERRY_IMPORT_LIMIT: '1/5s' })
  let asked = 0
  const pool = new Proxy(harness.ferry.pool, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      if (key !== 'query') return member.bind(target)
      return (text: unknown, values?: unknown[]) => {
        if (String(text).includes('claim_next_batch')) asked += 1
        return target.query(text as string, values)
      }
    },
  }) as Pool
  for (const page of [61n, 62n]) harness.sandbox.state.subscribers.addPage(page)
  const ids = [
    await harness.stage({ rows: 2, batchRows: 1, pageId: 61n }),
    await harness.stage({ rows: 2, batchRows: 1, pageId: 62n }),
  ]
  const ended = await Promise.all(ids.map(id => harness.work(id, { ferry: { ...harness.ferry, pool } })))
  expect(ended).toEqual(['completed', 'completed'])
  // Four calls, five seconds apart. Asking every 20 ms would be more than 600 times.
  expect(asked).toBeLessThan(250)
})

test('an import that died waiting keeps no other from its turn after the clock was set back', async () => {
  await using harness = await openImportHarness()
  const shared = limitOf('group:shared')
  const [first, second] = [await claimerOf(harness, 'one', shared), await claimerOf(harness, 'two', shared)]
  expect(await second.claim()).toBe('claimed')
  expect(await first.claim()).toBe('wait')
  await harness.query(`update ferry.imports set wants_at = now() + interval '1 hour' where id = $1`, [
    first.importId,
  ])
  await second.leaveWindow()
  expect(await second.claim()).toBe('claimed')
})

test('imports of one account under two keys that claim at one instant get the permits of one', async () => {
  await using harness = await openImportHarness()
  for (let round = 1; round <= 5; round++) {
    const claimers = await Promise.all(
      ['old', 'new'].map(key =>
        claimerOf(harness, `account${round}`, {
          ...limitOf(`account:${key}${round}`),
          accounts: [`account${round}`],
        }),
      ),
    )
    const results = await Promise.all(claimers.map(({ claim }) => claim()))
    expect(results.toSorted()).toEqual(['claimed', 'wait'])
  }
})
