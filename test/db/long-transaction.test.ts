import { setTimeout as delay } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { beginTransaction } from '#src/db/long-transaction.ts'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { createWorkLimit } from '#src/model/work-limit.ts'
import { openTestStore } from '#test/support/store.ts'

const NO_LIMIT = createWorkLimit(1)

test('pieces of one transaction run one after the other, and are committed together', async () => {
  await using store = await openTestStore()
  const open = await beginTransaction(store.pool, NO_LIMIT)
  const steps: string[] = []
  const add = (n: number) =>
    open.run(async client => {
      steps.push(`${n} begins`)
      await client.query(
        `insert into ferry.leases values ('lease ${n}', gen_random_uuid(), 'me', now(), now())`,
      )
      await client.query('select')
      steps.push(`${n} ends`)
    })
  await Promise.all([add(1), add(2)])
  const count = async () => (await store.pool.query('select from ferry.leases')).rowCount
  expect(await count()).toBe(0)
  expect(await open.end(async client => (await client.query('select from ferry.leases')).rowCount)).toBe(2)
  expect(await count()).toBe(2)
  expect(steps).toEqual(['1 begins', '1 ends', '2 begins', '2 ends'])
})

test('a transaction that waits long is not ended as an idle one', async () => {
  await using store = await openTestStore()
  const open = await beginTransaction(store.pool, NO_LIMIT, { showLifeEveryMs: 50 })
  await open.run(client => client.query(`set local idle_in_transaction_session_timeout = '500ms'`))
  await delay(1_200)
  expect(await open.end(async () => 'committed')).toBe('committed')
})

test("once it has ended, no timer sends anything over its connection, which is somebody else's then", async () => {
  await using store = await openTestStore()
  await store.pool.query('select')
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  onTestFinished(() => void vi.useRealTimers())
  const ended = await beginTransaction(store.pool, NO_LIMIT)
  expect(vi.getTimerCount()).toBe(1)
  await ended.end(async () => {})
  expect(vi.getTimerCount()).toBe(0)
  await (await beginTransaction(store.pool, NO_LIMIT)).rollBack()
  expect(vi.getTimerCount()).toBe(0)
})

test('a piece that fails ends the transaction; what comes after it fails the same way, and gives the work back', async () => {
  await using store = await openTestStore()
  const open = await beginTransaction(store.pool, NO_LIMIT)
  await expect(open.run(client => client.query('select 1 / 0'))).rejects.toThrow('division by zero')
  await expect(open.end(async () => 'never')).rejects.toThrow('division by zero')
  await open.rollBack()
  await (await beginTransaction(store.pool, NO_LIMIT)).rollBack()
})

test('a connection that breaks between two pieces is said to be one of Postgres, with the reason that it gave', async () => {
  await using store = await openTestStore()
  const open = await beginTransaction(store.pool, NO_LIMIT)
  const broken = Promise.withResolvers<unknown>()
  const pid = await open.run(async client => {
    client.once('error', broken.resolve)
    return (await client.query('select pg_backend_pid() as pid')).rows[0].pid
  })
  await store.pool.query('select pg_terminate_backend($1)', [pid])
  await broken.promise
  const failure = await open.run(client => client.query('select')).catch(error => error)
  expect(failure).toBeInstanceOf(PostgresUnavailable)
  expect(failure).toMatchObject({ code: '57P01', message: expect.stringContaining('administrator command') })
})
