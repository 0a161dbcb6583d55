import { createServer } from 'node:net'
import { Client } from 'pg'
import { describe, expect, test } from 'vitest'
import { migrateQueue } from '#src/queue/backend.ts'
import { checkQueue } from '#src/queue/check.ts'
import { checkRedis, readInfo } from '#src/queue/check-redis.ts'
import { QueueRefused } from '#src/queue/refused.ts'
import { dropRole } from '#test/support/roles.ts'
import { openTestDatabase } from '../support/database.ts'
import { testRedisUrl } from '../support/redis.ts'

describe('the queue in Postgres', () => {
  test('is migrated by four processes at once, into a schema of its own', async () => {
    await using database = await openTestDatabase()
    const settings = { databaseUrl: database.url, redisUrl: null, installation: 'test' }
    await expect(checkQueue(settings)).rejects.toThrow('Run `ferry migrate`')
    await Promise.all([1, 2, 3, 4].map(() => migrateQueue(settings)))
    await migrateQueue(settings)
    expect(await checkQueue(settings)).toMatch(
      /^in Postgres, schema ferry_queue, version \d+; a job can be added$/,
    )
  })

  test('needs no right to create once it is migrated', async () => {
    await using database = await openTestDatabase()
    await migrateQueue({ databaseUrl: database.url, redisUrl: null })
    const role = `${database.name}_reader`
    await query(database.url, `create role ${role} login password 'x'`)
    await query(database.url, `grant usage on schema ferry_queue to ${role}`)
    await query(database.url, `grant select on all tables in schema ferry_queue to ${role}`)
    try {
      const url = Object.assign(new URL(database.url), { username: role, password: 'x' }).href
      await migrateQueue({ databaseUrl: url, redisUrl: null })
    } finally {
      await dropRole({ query: statement => query(database.url, statement) }, role)
    }
  })
})

describe('Redis', () => {
  test.skipIf(!testRedisUrl)('is taken as it is if it evicts nothing', async () => {
    expect(await checkRedis(testRedisUrl!)).toMatch(/^Redis \d+\.\d+\.\d+ at .*, noeviction$/)
  })

  test.skipIf(!testRedisUrl)('is refused if it has no database of that number', async () => {
    const url = Object.assign(new URL(testRedisUrl!), { pathname: '/99999' }).href
    await expect(checkRedis(url)).rejects.toThrow(QueueRefused)
    await expect(checkRedis(url)).rejects.toThrow(/has no database 99999: .*out of range.*REDIS_URL/)
  })

  test.for([
    ['redis_version:6.0.16\r\nmaxmemory_policy:noeviction', /Redis 6\.0\.16 at .* is too old.*6\.2/],
    ['redis_version:7.0.0\r\nmaxmemory_policy:allkeys-lru', /maxmemory-policy is allkeys-lru.*noeviction/],
    ['redis_version:7.0.0\r\n', /maxmemory-policy is unknown/],
  ] as const)('that says %j is refused', async ([info, reason]) => {
    await using redis = await openFakeRedis(info)
    await expect(checkRedis(redis.url)).rejects.toThrow(reason)
  })

  test('that says it is Valkey is judged by the version of Valkey', async () => {
    const info =
      'redis_version:7.2.4\r\nserver_name:valkey\r\nvalkey_version:8.1.0\r\nmaxmemory_policy:noeviction'
    expect(readInfo(info)).toMatchObject({ server: 'Valkey', version: '8.1.0', policy: 'noeviction' })
    await using redis = await openFakeRedis(info)
    expect(await checkRedis(redis.url)).toMatch(/^Valkey 8\.1\.0 at/)
  })

  test('that does not answer is not waited for', async () => {
    await using redis = await openFakeRedis(null)
    await expect(checkRedis(redis.url)).rejects.toThrow(/cannot be used: .*timed out/i)
  })

  test('that is at none of the addresses of its name is reported with a reason', async () => {
    await expect(checkRedis('redis://localhost:1')).rejects.toThrow(
      'localhost:1 (REDIS_URL) cannot be used: ',
    )
    await expect(checkRedis('redis://localhost:1')).rejects.toThrow('ECONNREFUSED')
  })

  test('that cannot be reached is named without its password', async () => {
    const refused = checkRedis('redis://someone:secret@127.0.0.1:1/0')
    await expect(refused).rejects.toThrow(
      /127\.0\.0\.1:1 \(REDIS_URL\) cannot be used: .*ECONNREFUSED.*Check REDIS_URL/,
    )
    await expect(refused).rejects.not.toThrow('secret')
  })
})

/** A server that speaks enough of Redis to say who it is, or is mute. */
async function openFakeRedis(info: string | null) {
  const answerTo = (command: string) => {
    if (command.startsWith('hello')) return "-ERR unknown command 'HELLO'\r\n"
    return command.startsWith('info') ? `$${info?.length}\r\n${info}\r\n` : '+OK\r\n'
  }
  const server = createServer(socket => {
    socket.on('data', data => {
      const commands = data
        .toString()
        .split(/^\*\d+\r\n\$\d+\r\n/m)
        .slice(1)
      if (info !== null) socket.write(commands.map(answerTo).join(''))
    })
    socket.on('error', () => {})
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  return {
    url: `redis://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.close()
    },
  }
}

async function query(url: string, statement: string): Promise<void> {
  const client = new Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}
