import { Redis } from 'ioredis'
import { Client } from 'pg'
import { expect, test } from 'vitest'
import { openTestDatabase } from './database.ts'
import { openTestRedis, testRedisUrl } from './redis.ts'
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
