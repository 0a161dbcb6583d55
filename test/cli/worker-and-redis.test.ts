import { describe, expect, test } from 'vitest'
import { leasesOf } from '#test/support/leases.ts'
import { freePort, hasRedisServer, startRedis } from '../support/own-redis.ts'
import { waitFor } from '../support/wait-for.ts'
import { openCli } from './open-cli.ts'

describe.skipIf(!hasRedisServer)('ferry worker', () => {
  test('waits for a Redis that is not up yet', async () => {
    await using cli = await openCli()
    const port = await freePort()
    await using worker = cli.ferryStart('worker', { REDIS_URL: `redis://127.0.0.1:${port}` })
    await worker.printed('Waiting for the queue')
    await using _redis = await startRedis([], port)
    await worker.printed('Accounts:')
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test('that waits for Redis exits at a signal', async () => {
    await using cli = await openCli()
    await using worker = cli.ferryStart('worker', { REDIS_URL: `redis://127.0.0.1:${await freePort()}` })
    await worker.printed('Waiting for the queue')
    worker.child.kill('SIGTERM')
    expect((await worker.ended).code).toBe(0)
  })

  test.for(['SIGSTOP', 'SIGKILL'] as const)(
    'exits with 0 while Redis does not answer (%s), and leaves no lease',
    async signal => {
      await using cli = await openCli({ rules: 3 })
      await using redis = await startRedis()
      await using worker = cli.ferryStart('worker', { REDIS_URL: redis.url, FERRY_POLL_EVERY: '1s' })
      const polled = () => cli.query(`select from ferry.sync_runs where status = 'succeeded'`)
      await waitFor(async () => (await polled()).length > 0, { what: 'a poll' })
      redis.child.kill(signal)
      worker.child.kill('SIGTERM')
      expect(await worker.ended).toMatchObject({ code: 0, signal: null })
      expect(await leasesOf(cli.ferry.pool)).toEqual([])
    },
  )
})
