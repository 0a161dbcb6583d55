import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { type Claimer, claimBatch } from '#src/store/imports/claims.ts'
import type { Limit } from '#src/store/throttle.ts'
import { type ImportWorld, setup } from './import-world.ts'

const WINDOW_MS = 300
const limitOf = (key: string): Limit => ({ limitKey: key, windows: [{ most: 1, windowMs: WINDOW_MS }] })

/** Claims batches of a running import of its own, of some account, under some limit. */
async function claimerOf({ ferry, stage, query }: ImportWorld, account: string, limit: Limit) {
  const importId = await stage({ rows: 9, batchRows: 1, account })
  await query(`update ferry.imports set status = 'running' where id = $1`, [importId])
  const lease = { name: `test:${importId}`, token: randomUUID() }
  await query(
    `insert into ferry.leases (name, token, holder, acquired_at, expires_at)
     values ($1, $2, 'test', now(), now() + interval '1 h')`,
    [lease.name, lease.token],
  )
  const claimer: Claimer = { pool: ferry.pool, importId, lease, limit, arrivalBoundMs: 500, claimMs: 60_000 }
  return { claim: async () => (await claimBatch(claimer)).what }
}

/** Ends the calls under way and waits until the limit is open again; whoever has asked is still waiting then. */
async function opened({ query }: ImportWorld): Promise<void> {
  await query('update ferry.platform_calls set finished = clock_timestamp() where finished is null')
  await delay(WINDOW_MS + 50)
  await query('update ferry.imports set wants_at = clock_timestamp() where wants_at is not null')
}

test('imports of two accounts that share a limit take turns', async () => {
  await using world = await setup()
  const shared = limitOf('group:shared')
  const [first, second] = [await claimerOf(world, 'one', shared), await claimerOf(world, 'two', shared)]
  expect(await first.claim()).toBe('claimed')
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await opened(world)
  expect([await first.claim(), await second.claim()]).toEqual(['wait', 'claimed'])
  expect(await world.query('select count(*)::int from ferry.platform_calls')).toEqual([{ count: 2 }])
})

test('imports of two accounts with limits of their own do not wait for each other', async () => {
  await using world = await setup()
  const first = await claimerOf(world, 'one', limitOf('account:one'))
  const second = await claimerOf(world, 'two', limitOf('account:two'))
  expect([await first.claim(), await second.claim()]).toEqual(['claimed', 'claimed'])
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await opened(world)
  expect([await second.claim(), await first.claim()]).toEqual(['claimed', 'claimed'])
})

test('imports that wait for a closed limit ask once a second, not all the time', {
  timeout: 90_000,
}, async () => {
  await using world = await setup({}, { FERRY_IMPORT_LIMIT: '1/5s' })
  let asked = 0
  const pool = new Proxy(world.ferry.pool, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      if (key !== 'query') return member.bind(target)
      return (text: unknown, values?: unknown[]) => {
        if (String(text).includes('claim_batch')) asked += 1
        return target.query(text as string, values)
      }
    },
  }) as Pool
  for (const page of [61n, 62n]) world.sandbox.state.subscribers.addPage(page)
  const ids = [
    await world.stage({ rows: 2, batchRows: 1, pageId: 61n }),
    await world.stage({ rows: 2, batchRows: 1, pageId: 62n }),
  ]
  const ended = await Promise.all(ids.map(id => world.work(id, { ferry: { ...world.ferry, pool } })))
  expect(ended).toEqual(['completed', 'completed'])
  // Four calls, five seconds apart. Asking every 20 ms would be more than 600 times.
  expect(asked).toBeLessThan(250)
})
