import { DatabaseError } from 'pg'
import { expect, test } from 'vitest'
import { PostgresUnavailable } from '#src/db/outage.ts'
import { readinessOf, unreachable } from '#src/http/readiness.ts'
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

const UNSUPPORTED =
  'The schema ferry of the database was not made by this Ferry or an earlier release, and cannot be used.'

test.each([
  ['known', { sync: 0, import: 3 }, OK],
  ['missing', { sync: 0 }, { ...OK, ready: false, schema: 'The database has no tables of Ferry.' }],
  [
    'older',
    { sync: 0 },
    { ...OK, ready: false, schema: 'The database is older than this Ferry. Run `ferry migrate`.' },
  ],
  [
    'newer',
    { sync: 0 },
    {
      ...OK,
      ready: false,
      schema: 'A newer Ferry migrated the database. Restart this one with that version.',
    },
  ],
  ['unsupported', { sync: 0 }, { ...OK, ready: false, schema: UNSUPPORTED }],
  ['known', { sync: 0, import: null }, { ...OK, ready: false, queue: 'The queue does not answer.' }],
  ['known', null, { ...OK, ready: false, queue: 'The queue did not answer within 2 s.' }],
  [
    { why: 'Postgres refused.' },
    null,
    {
      ready: false,
      postgres: 'Postgres refused.',
      schema: null,
      queue: 'The queue did not answer within 2 s.',
    },
  ],
  [null, { sync: 0 }, { ...OK, ready: false, postgres: 'Postgres did not answer within 2 s.', schema: null }],
] as const)('schema %s and queues %j', (schema, waiting, expected) => {
  expect(readinessOf(schema, waiting)).toEqual(expected)
})

const DATABASE = { url: 'postgres://here/ferry', setting: 'DATABASE_URL' } as never
const failedWith = (code: string) =>
  new PostgresUnavailable(DATABASE, Object.assign(new Error('x'), { code }))
const answered = (code: string | undefined) => Object.assign(new DatabaseError('x', 1, 'error'), { code })

test.each([
  [failedWith('ECONNREFUSED'), 'Postgres refused the connection.'],
  [failedWith('ENOTFOUND'), 'Postgres cannot be reached. The reason is in the log of this worker.'],
  [answered('57P03'), 'Postgres answers with an error (SQLSTATE 57P03).'],
  [failedWith('ETIMEDOUT'), null],
  [answered(undefined), null],
  [new Error('late'), null],
])('%s is told so, or means no more than that no answer came: %s', (error, why) => {
  if (why === null) expect(() => unreachable(error)).toThrow(error)
  else expect(unreachable(error)).toEqual({ why })
})
