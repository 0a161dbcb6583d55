import { once } from 'node:events'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { openBackend } from '#src/queue/backend.ts'
import { openWorker } from '#src/queue/worker.ts'
import { loadInstallation } from '#src/store/installation.ts'
import { hasRedisServer, startRedis } from '../support/own-redis.ts'
import { openSilentProxy } from '../support/silent-proxy.ts'
import { waitFor } from '../support/wait-for.ts'
import { type QueueRoom, reconcileOften, setup, testJob } from './setup.ts'

/** A worker whose queue is somewhere else than that of its room, with what it says. */
async function openWorkerAt(room: QueueRoom, queue: { databaseUrl?: string; redisUrl?: string | null }) {
  const lines: { msg: string; level: number }[] = []
  const log = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line)) })
  const { id: installation } = await loadInstallation(room.ferry.pool)
  const job = testJob({ timing: () => ({ everyMs: 1_000 }) })
  const backend = openBackend({ ...room.backend, ...queue, installation, log })
  const worker = await openWorker({ ...room.ferry, log }, backend, [job, reconcileOften])
  return {
    job,
    lines,
    /** What was said of the queue, in order. */
    news: () => lines.map(line => line.msg).filter(msg => /^The queue/.test(msg)),
    async [Symbol.asyncDispose]() {
      await worker.drain(6_000)
    },
  }
}

const runs = (worker: { job: ReturnType<typeof testJob> }, more: number) => {
  const before = worker.job.calls.length
  return waitFor(() => worker.job.calls.length >= before + more, {
    what: `${more} runs`,
    timeoutMs: 90_000,
  })
}

const AWAY = 'The queue is away. Nothing is lost; Ferry asks for it again and again.'
const BACK = 'The queue is back.'

describe('a queue in Postgres that refuses the first connections', () => {
  test('is asked a few times a second, and worked on once it lets Ferry in', {
    timeout: 180_000,
  }, async () => {
    await using room = await setup('postgres')
    await using door = await openDoor(room.backend.databaseUrl)
    await using worker = await openWorkerAt(room, { databaseUrl: door.url })
    const before = { refused: door.refused(), atMs: performance.now() }
    await waitFor(() => door.refused() >= before.refused + 5, { what: 'further attempts', timeoutMs: 60_000 })
    const perSecond = (door.refused() - before.refused) / ((performance.now() - before.atMs) / 1_000)
    expect(perSecond).toBeLessThan(30)
    expect(worker.job.calls).toEqual([])
    door.open()
    await runs(worker, 2)
    await waitFor(() => worker.news().includes(BACK), { what: 'the word that it is back', timeoutMs: 30_000 })
    expect(worker.news()).toEqual([AWAY, BACK])
  })

  test('does not keep a worker from ending', { timeout: 60_000 }, async () => {
    await using room = await setup('postgres')
    await using door = await openDoor(room.backend.databaseUrl)
    const worker = await openWorkerAt(room, { databaseUrl: door.url })
    await worker[Symbol.asyncDispose]()
    const refused = door.refused()
    await new Promise(resolve => setImmediate(resolve))
    expect(door.refused()).toBe(refused)
  })
})

describe('connections of the queue that fall silent', () => {
  test('in Postgres are given up, and the work goes on', { timeout: 180_000 }, async () => {
    await using room = await setup('postgres')
    await using proxy = await openSilentProxy(room.backend.databaseUrl, 5432)
    await using worker = await openWorkerAt(room, { databaseUrl: proxy.through(room.backend.databaseUrl) })
    await runs(worker, 2)
    proxy.fallSilent()
    proxy.recover()
    const silentAtMs = performance.now()
    await runs(worker, 3)
    expect(performance.now() - silentAtMs).toBeLessThan(60_000)
  })

  test.skipIf(!hasRedisServer)(
    'in Redis are given up, and the work goes on',
    { timeout: 180_000 },
    async () => {
      await using room = await setup('postgres')
      await using redis = await startRedis()
      await using proxy = await openSilentProxy(redis.url, 6379)
      await using worker = await openWorkerAt(room, { redisUrl: proxy.through(redis.url) })
      await runs(worker, 2)
      proxy.fallSilent()
      proxy.recover()
      const silentAtMs = performance.now()
      await runs(worker, 3)
      expect(performance.now() - silentAtMs).toBeLessThan(60_000)
    },
  )
})

describe.skipIf(!hasRedisServer)('a Redis that stops working', () => {
  test.for([
    ['a replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one']],
    ['out of memory', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0']],
    [
      'without scripts',
      ['acl', 'setuser', 'default', '-@scripting'],
      ['acl', 'setuser', 'default', '+@scripting'],
    ],
  ] as const)(
    'is asked a few times a second, and worked on once it works again: %s',
    { timeout: 180_000 },
    async ([, spoil, mend]) => {
      await using room = await setup('postgres')
      await using redis = await startRedis()
      await using worker = await openWorkerAt(room, { redisUrl: redis.url })
      await runs(worker, 2)
      await redis.admin.call(...(spoil as unknown as [string, ...string[]]))
      await waitFor(() => worker.news().includes(AWAY), {
        what: 'the word that it is away',
        timeoutMs: 60_000,
      })
      const before = { commands: await commandsOf(redis.admin), atMs: performance.now() }
      await waitFor(() => performance.now() - before.atMs > 3_000, { what: 'three seconds' })
      const perSecond =
        ((await commandsOf(redis.admin)) - before.commands) / ((performance.now() - before.atMs) / 1_000)
      expect(perSecond).toBeLessThan(40)
      await redis.admin.call(...(mend as unknown as [string, ...string[]]))
      await runs(worker, 2)
      await waitFor(() => worker.news().at(-1) === BACK, {
        what: 'the word that it is back',
        timeoutMs: 60_000,
      })
      expect(worker.news()).toEqual([AWAY, BACK])
    },
  )
})

async function commandsOf(admin: { info(section: string): Promise<string> }): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))?.[1])
}

/** A way to Postgres that is shut at first: whoever connects is turned away at once, and counted. */
async function openDoor(databaseUrl: string) {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let isOpen = false
  let refused = 0
  const server = createServer(near => {
    near.on('error', () => {})
    if (!isOpen) {
      refused += 1
      near.destroy()
      return
    }
    const far = connectTo(Number(target.port || 5432), target.hostname)
    for (const [socket, other] of [[near, far] as const, [far, near] as const]) {
      sockets.add(socket)
      socket.pipe(other)
      socket.on('error', () => other.destroy()).on('close', () => other.destroy())
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  return {
    url: Object.assign(new URL(databaseUrl), { hostname: '127.0.0.1', port: String(port) }).href,
    refused: () => refused,
    open() {
      isOpen = true
    },
    async [Symbol.asyncDispose]() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
