import { connect as connectTo, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { openBackend } from '#src/queue/backend.ts'
import { runSchedule } from '#src/worker/wake-ups.ts'
import { openWorker } from '#src/worker/worker.ts'
import { ADA } from '#test/support/acted-by.ts'
import { testRedisUrl } from '../support/redis.ts'
import { waitFor } from '../support/wait-for.ts'
import {
  BACKENDS,
  ONCE,
  openGate,
  openQueueHarness,
  reconcileOften,
  testJob,
  workOf,
} from './queue-harness.ts'
import { startScriptedWorker } from './start-scripted-worker.ts'

describe.skipIf(!testRedisUrl)('with a Redis that does not answer', () => {
  test('a worker drains in time, and its slot is free', async () => {
    await using harness = await openQueueHarness('redis')
    await using proxy = await openRedisProxy(harness.backend.redisUrl!)
    const job = testJob({ timing: ONCE, run: (_, __, signal) => openGate().pass(signal) })
    const worker = await openWorker(
      harness.ferry,
      await backendBy(proxy, harness),
      workOf([job], reconcileOften),
    )
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    proxy.close()

    // Without a deadline, it would wait for Redis for ever.
    await worker.drain(6_000)
    const [slot] = await harness.slots()
    expect(slot).toMatchObject({ attempts: 0, done_at: null })
    expect(slot!.retry_at!.getTime()).toBeLessThanOrEqual(Date.now())
  })

  test('a worker leaves nothing open that keeps its process running', async () => {
    await using harness = await openQueueHarness('redis')
    await using proxy = await openRedisProxy(harness.backend.redisUrl!)
    await using worker = await startScriptedWorker({
      databaseUrl: harness.backend.databaseUrl,
      redisUrl: proxy.url,
      timing: ONCE,
      drainMs: 2_400,
    })
    await worker.wrote('begun')
    proxy.close()
    worker.kill('SIGTERM')
    await worker.wrote('drained')
    await worker.ended
  })

  test('a run by hand is recorded, and begins all the same', async () => {
    await using harness = await openQueueHarness('redis')
    await using proxy = await openRedisProxy(harness.backend.redisUrl!)
    const job = testJob({ name: 'nightly', timing: { cron: '0 0 1 1 *', timezone: 'UTC' } })
    const backend = await backendBy(proxy, harness)
    const worker = await openWorker(harness.ferry, backend, workOf([job], reconcileOften))
    proxy.close()
    await runSchedule(
      harness.ferry,
      backend,
      harness.schedulesOf([job]),
      { name: 'nightly', account: undefined },
      ADA,
    )
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
    await worker.drain(5_000)
  })
})

describe.each(BACKENDS)('with Postgres restarted, on %s', kind => {
  test('a running worker goes on by itself', async () => {
    await using harness = await openQueueHarness(kind)
    const job = testJob({ timing: { everyMs: 1_000 } })
    await harness.work([job], reconcileOften)
    await waitFor(() => job.calls.length > 0, { what: 'a run' })
    // All that a worker notices of a restart: every connection breaks, and new ones can be made.
    await harness.ferry.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const before = job.calls.length
    await waitFor(() => job.calls.length >= before + 3, { what: 'three more runs' })
  })
})

type RedisProxy = Awaited<ReturnType<typeof openRedisProxy>>

async function backendBy(
  proxy: RedisProxy,
  { ferry, backend }: Awaited<ReturnType<typeof openQueueHarness>>,
) {
  const { id } = await loadInstallation(ferry.pool)
  return openBackend({ ...backend, redisUrl: proxy.url, installation: id, log: ferry.log })
}

/** A way to Redis that can be cut. */
async function openRedisProxy(redisUrl: string) {
  const target = new URL(redisUrl)
  const sockets = new Set<Socket>()
  const server = createServer(near => {
    const far = connectTo(Number(target.port || 6379), target.hostname)
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy())
      socket.on('close', () => sockets.delete(socket))
    }
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href,
    close,
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}
