import { connect as connectTo, createServer, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { openBackend } from '#src/queue/backend.ts'
import { runSchedule } from '#src/queue/schedules.ts'
import { openWorker } from '#src/queue/worker.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { testRedisUrl } from '../support/redis.ts'
import { waitFor } from '../support/wait-for.ts'
import { BACKENDS, ONCE, openGate, reconcileOften, setup, testJob } from './setup.ts'
import { startStandIn } from './start-stand-in.ts'

const once = () => ONCE

describe.skipIf(!testRedisUrl)('with Redis out of reach', () => {
  test('a worker drains in time, and the slot it was at is free', async () => {
    await using room = await setup('redis')
    await using road = await openRoad(room.backend.redisUrl!)
    const job = testJob({ timing: once, run: (_, __, signal) => openGate().pass(signal) })
    const worker = await openWorker(room.ferry, await backendBy(road, room), [job, reconcileOften])
    await waitFor(() => job.calls.length === 1, { what: 'the run' })
    road.close()

    const before = performance.now()
    await worker.drain(6_000)
    expect(performance.now() - before).toBeLessThan(6_500)
    const [slot] = await room.slots()
    expect(slot).toMatchObject({ attempts: 0, done_at: null })
    expect(slot!.retry_at!.getTime()).toBeLessThanOrEqual(Date.now())
  })

  test('a worker leaves nothing behind that keeps its process up', async () => {
    await using room = await setup('redis')
    await using road = await openRoad(room.backend.redisUrl!)
    await using worker = await startStandIn({
      databaseUrl: room.backend.databaseUrl,
      redisUrl: road.url,
      timing: ONCE,
      drainMs: 2_400,
    })
    await worker.wrote('begun')
    road.close()
    worker.kill('SIGTERM')
    await worker.wrote('drained')
    await worker.ended
  })

  test('a run asked for by hand is recorded, and begins once Redis is back', async () => {
    await using room = await setup('redis')
    await using road = await openRoad(room.backend.redisUrl!)
    const job = testJob({ name: 'nightly', timing: () => ({ cron: '0 0 1 1 *', timezone: 'UTC' }) })
    const backend = await backendBy(road, room)
    const worker = await openWorker(room.ferry, backend, [job, reconcileOften])
    road.close()
    await runSchedule(room.ferry, backend, [job], 'nightly')
    expect(job.calls).toEqual([])
    await road.open()
    await waitFor(() => job.calls.length === 1, { what: 'the run', timeoutMs: 20_000 })
    expect(job.calls).toEqual([{ account: 'default', trigger: 'manual' }])
    await worker.drain(5_000)
  })
})

describe.each(BACKENDS)('with Postgres restarted, on %s', kind => {
  test('a running worker goes on by itself', { timeout: 60_000 }, async () => {
    await using room = await setup(kind)
    const job = testJob({ timing: () => ({ everyMs: 1_000 }) })
    await room.work([job, reconcileOften])
    await waitFor(() => job.calls.length > 0, { what: 'a run' })
    // All that a worker notices of a restart: every connection breaks, and new ones can be made.
    await room.ferry.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    )
    const before = job.calls.length
    await waitFor(() => job.calls.length >= before + 3, { what: 'three more runs', timeoutMs: 40_000 })
  })
})

type Road = Awaited<ReturnType<typeof openRoad>>

async function backendBy(road: Road, { ferry, backend }: Awaited<ReturnType<typeof setup>>) {
  const { id } = await loadInstallation(ferry.pool)
  return openBackend({ ...backend, redisUrl: road.url, installation: id, log: ferry.log })
}

/** A way to Redis that can be cut and opened again. */
async function openRoad(redisUrl: string) {
  const target = new URL(redisUrl)
  const sockets = new Set<Socket>()
  const open = async (port: number) => {
    const server = createServer(near => {
      const far = connectTo(Number(target.port || 6379), target.hostname)
      for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
        sockets.add(socket)
        socket.pipe(other)
        socket.on('error', () => other.destroy())
        socket.on('close', () => sockets.delete(socket))
      }
    })
    await new Promise<void>(resolve => server.listen(port, '127.0.0.1', resolve))
    return server
  }
  let server = await open(0)
  const { port } = server.address() as { port: number }
  const close = () => {
    server.close()
    for (const socket of sockets) socket.destroy()
  }
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: String(port) }).href,
    close,
    async open() {
      server = await open(port)
    },
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}
