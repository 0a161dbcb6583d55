import { expect, test } from 'vitest'
import { readinessOf } from '#src/http/readiness.ts'
import { ask, openHttpHarness, openTestHttp } from './http-harness.ts'

const OK = { ready: true, postgres: 'ok', schema: 'ok', queue: 'ok' }

test('a worker is ready while Postgres and the queue answer, even if the platform is down', async () => {
  await using harness = await openHttpHarness()
  harness.sandbox.state.inject({ kind: 'drop' })
  expect((await harness.sync()).status).toBe('failed')
  expect(await harness.get('/readyz')).toMatchObject({ status: 200, json: OK })
})

test('a worker that starts or stops is alive and not ready', async () => {
  await using starting = await openTestHttp()
  expect((await ask(`${starting.address}/livez`)).status).toBe(200)
  expect(await ask(`${starting.address}/readyz`)).toMatchObject({
    status: 503,
    json: { ready: false, error: 'This worker is starting.' },
  })

  await using harness = await openHttpHarness()
  harness.http.stop()
  expect((await harness.get('/livez')).status).toBe(200)
  expect(await harness.get('/readyz')).toMatchObject({
    status: 503,
    json: { ready: false, error: 'This worker is stopping.' },
  })
})

test('a Postgres that refuses connections makes it unready, and the answer names no address', async () => {
  await using harness = await openHttpHarness()
  await harness.proxy[Symbol.asyncDispose]()
  const { status, text, json } = await harness.get('/readyz')
  expect(status).toBe(503)
  expect(json.postgres).toBe('Postgres refused the connection.')
  expect(text).not.toMatch(/127\.0\.0\.1|ECONN|postgres:/)
})

test('a database that was migrated by a newer Ferry, or that lost its tables, makes it unready', async () => {
  await using harness = await openHttpHarness()
  await harness.query(`insert into ferry.migrations (hash, created_at) values ('', 9e15)`)
  expect(await harness.get('/readyz')).toMatchObject({
    status: 503,
    json: { ready: false, postgres: 'ok', schema: expect.stringContaining('A newer Ferry'), queue: 'ok' },
  })
})

test('a Postgres that answers with an error makes it unready, and the answer does not say that none came', async () => {
  await using harness = await openHttpHarness()
  await harness.query(
    'alter table ferry.migrations rename to kept; create view ferry.migrations as select 1 / (random() * 0)::int as created_at',
  )
  expect(await harness.get('/readyz')).toMatchObject({
    status: 503,
    json: {
      ready: false,
      postgres: 'Postgres answers with an error (SQLSTATE 22012).',
      schema: null,
      queue: 'ok',
    },
  })
})

test('a statement that takes too long makes it unready, and the answer says how long it was waited for', async () => {
  await using harness = await openHttpHarness()
  const locking = await harness.ferry.pool.connect()
  await locking.query('begin; lock ferry.migrations')
  const { postgres } = (await harness.get('/readyz')).json
  await locking.query('rollback')
  locking.release()
  expect(postgres).toBe('Postgres did not answer within 2 s.')
})

test.each([
  ['known', { sync: 0, import: 3 }, { ready: true }],
  ['missing', { sync: 0 }, { ready: false, schema: 'The database has no tables of Ferry.' }],
  ['older', { sync: 0 }, { ready: false, schema: expect.stringContaining('ferry migrate') }],
  ['known', { sync: 0, import: null }, { ready: false, postgres: 'ok', queue: 'The queue does not answer.' }],
  ['known', null, { ready: false, queue: 'The queue did not answer within 2 s.' }],
  [{ why: 'Postgres refused.' }, null, { ready: false, postgres: 'Postgres refused.', schema: null }],
  [null, { sync: 0 }, { ready: false, schema: null, queue: 'ok' }],
] as const)('schema %s and queues %j', (schema, waiting, expected) => {
  expect(readinessOf(schema, waiting)).toMatchObject(expected)
})
