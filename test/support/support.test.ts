import { Redis } from 'ioredis'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { openTestDatabase } from './database.ts'
import { openTestRedis, testRedisUrl } from './redis.ts'
import { openSilentProxy } from './silent-proxy.ts'
import { waitFor } from './wait-for.ts'

test('test databases are migrated, apart from each other and gone afterwards', async () => {
  const databases = await Promise.all([openTestDatabase(), openTestDatabase(), openTestDatabase()])
  const [first, second] = databases.map(({ url }) => new Client({ connectionString: url })) as [
    Client,
    Client,
  ]
  await first.connect()
  await second.connect()
  await first.query('create table only_here ()')
  const { rows } = await second.query(
    `select to_regclass('only_here') as other, to_regnamespace('ferry')::text as schema`,
  )
  expect(rows).toEqual([{ other: null, schema: 'ferry' }])
  await first.end()
  await second.end()
  for (const database of databases) await database[Symbol.asyncDispose]()

  await expect(new Client({ connectionString: databases[0].url }).connect()).rejects.toThrow('does not exist')
})

test('a connection that a test forgot fails the test', async () => {
  const database = await openTestDatabase()
  const forgotten = new Client({ connectionString: database.url, application_name: 'forgotten' })
  forgotten.on('error', () => {})
  await forgotten.connect()
  await expect(database[Symbol.asyncDispose]()).rejects.toThrow('left connections open: forgotten')
})

test.skipIf(!testRedisUrl)(
  'test Redis databases are empty, apart from each other and empty afterwards',
  async () => {
    const [first, second] = await Promise.all([openTestRedis(), openTestRedis()])
    expect(first.url).not.toBe(second.url)
    const redis = new Redis(first.url)
    await redis.set('a', 1)
    await first[Symbol.asyncDispose]()
    expect(await redis.dbsize()).toBe(0)
    await redis.quit()
    await second[Symbol.asyncDispose]()
  },
)

test('waiting in vain says for what', async () => {
  const never = () => {
    throw new Error('not there')
  }
  await expect(waitFor(never, { timeoutMs: 50, what: 'the train' })).rejects.toMatchObject({
    message: 'Waited 50 ms in vain for the train',
    cause: new Error('not there'),
  })
})

test('a proxy that falls silent forwards nothing and closes nothing, and serves new connections once it has recovered', async () => {
  await using proxy = await openSilentProxy(inject('database').serverUrl, 5432)
  const url = proxy.through(inject('database').serverUrl)
  const silent = new Client({ connectionString: url })
  const broken = Promise.withResolvers<string>()
  silent.on('error', () => broken.resolve('closed'))
  await silent.connect()
  await silent.query('select 1')

  proxy.fallSilent()
  const late = new Client({ connectionString: url, connectionTimeoutMillis: 300 })
  await expect(late.connect()).rejects.toThrow('timeout')
  const answered = silent.query('select 1').then(
    () => 'answered',
    () => 'failed',
  )
  proxy.recover()
  const next = new Client({ connectionString: url })
  await next.connect()
  await next.query('select pg_sleep(0.3)')
  expect(await Promise.race([answered, broken.promise, 'nothing'])).toBe('nothing')
  await next.end()
})
