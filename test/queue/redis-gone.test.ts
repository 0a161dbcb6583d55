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
