import { once } from 'node:events'
import { expect, test } from 'vitest'
import { openRawQueue } from '#src/queue/backend.ts'
import { leaveQueue } from '#src/queue/kind.ts'
import { hasRedisServer, startRedis } from '#test/support/own-redis.ts'
import { waitFor } from '#test/support/wait-for.ts'

test.skipIf(!hasRedisServer)(
  'what is put into a Redis that has ended fails, does not wait for its return, and is not put there later',
  async () => {
    await using redis = await startRedis()
    const queue = openRawQueue({ databaseUrl: '', redisUrl: redis.url, installation: 'test' }, 'sync')
    const failures: string[] = []
    queue.on('error', error => failures.push(error.message))
    await queue.add('before', {})
    redis.child.kill('SIGKILL')
    await once(redis.child, 'exit')
    const added = queue.add('meanwhile', {}).then(
      () => 'it was added',
      error => `${error}`,
    )
    await waitFor(() => failures.length >= 4, { what: 'several tries to connect' })
    await using _again = await startRedis([], redis.port)
    expect(await added).toContain('max retries per request')
    await queue.add('after', {})
    expect(await queue.getWaitingCount()).toBe(1)
    await leaveQueue(queue)
  },
)

test.skipIf(!hasRedisServer)(
  'once its Redis is a replica, it connects anew: the master is elsewhere under the same name',
  async () => {
    await using redis = await startRedis()
    const connections = async (): Promise<string[]> =>
      `${await redis.admin.client('LIST', 'TYPE', 'NORMAL')}`.match(/^id=\d+/gm) ?? []
    const others = await connections()
    const queue = openRawQueue({ databaseUrl: '', redisUrl: redis.url, installation: 'test' }, 'sync')
    queue.on('error', () => {})
    await queue.add('before', {})
    const before = (await connections()).filter(id => !others.includes(id))
    expect(before).toHaveLength(1)
    await redis.admin.call('replicaof', '127.0.0.1', '1')
    await expect(queue.add('meanwhile', {})).rejects.toThrow('READONLY')
    await waitFor(async () => !(await connections()).some(id => before.includes(id)), {
      what: 'a new connection',
    })
    await redis.admin.call('replicaof', 'no', 'one')
    await queue.add('after', {})
    await leaveQueue(queue)
  },
)
