import { once } from 'node:events'
import { connect as connectTo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { describe, expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { openBackend } from '#src/queue/backend.ts'
import { openWorker } from '#src/worker/worker.ts'
import { hasRedisServer, startRedis } from '../support/own-redis.ts'
import { openSilentProxy } from '../support/silent-proxy.ts'
import { waitFor } from '../support/wait-for.ts'
import { openQueueHarness, type QueueHarness, reconcileOften, testJob, workOf } from './queue-harness.ts'

/** A worker whose queue is somewhere else than that of its harness, with what it says. */
async function openWorkerAt(
  harness: QueueHarness,
  queue: { databaseUrl?: string; redisUrl?: string | null },
) {
  const lines: { msg: string; level: number }[] = []
  const log = pino({ level: 'info' }, { write: line => lines.push(JSON.parse(line)) })
  const { id: installation } = await loadInstallation(harness.ferry.pool)
  const job = testJob({ timing: { everyMs: 1_000 } })
  const backend = openBackend({ ...harness.backend, ...queue, installation, log })
  const worker = await openWorker({ ...harness.ferry, log }, backend, workOf([job], reconcileOften))
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

/** Runs of slots that follow each other: those that are begun without the queue are some seconds apart. */
const runs = (worker: { job: ReturnType<typeof testJob> }, more: number) => {
  const before = worker.job.calls.length
  const follow = () => {
    const slots = worker.job.calls.slice(before).map(call => call.slot!.getTime() / 1_000)
    return slots.some((slot, index) => slots[index + more - 1] === slot + more - 1)
  }
  return waitFor(follow, { what: `${more} runs, one a second` })
}

const AWAY = 'The queue does not answer. Nothing is lost; Ferry keeps trying.'
const BACK = 'The queue answers again.'

describe.concurrent('a queue in Postgres that refuses the first connections', () => {
  test('is called a few times a second, and used once it accepts connections; without it, work begins later', async () => {
    await using harness = await openQueueHarness('postgres')
    await using proxy = await openShutProxy(harness.backend.databaseUrl)
    await using worker = await openWorkerAt(harness, { databaseUrl: proxy.url })
    const before = { refused: proxy.refused(), atMs: performance.now() }
    await waitFor(() => proxy.refused() >= before.refused + 5, {
      what: 'further attempts',
    })
    const perSecond = (proxy.refused() - before.refused) / ((performance.now() - before.atMs) / 1_000)
    expect(perSecond).toBeLessThan(30)
    await waitFor(() => worker.job.calls.length > 0, { what: 'a run without the queue' })
    proxy.open()
    await runs(worker, 2)
    await waitFor(() => worker.news().includes(BACK), {
      what: 'the log line that it answers again',
    })
    expect(worker.news()).toEqual([AWAY, BACK])
  })

  test('does not keep a worker from exiting', async () => {
    await using harness = await openQueueHarness('postgres')
    await using proxy = await openShutProxy(harness.backend.databaseUrl)
    const worker = await openWorkerAt(harness, { databaseUrl: proxy.url })
    await worker[Symbol.asyncDispose]()
    const refused = proxy.refused()
    await new Promise(resolve => setImmediate(resolve))
    expect(proxy.refused()).toBe(refused)
  })
})

describe.concurrent('connections of the queue that fall silent', () => {
  test('in Postgres are given up, and the work goes on', async () => {
    await using harness = await openQueueHarness('postgres')
    await using proxy = await openSilentProxy(harness.backend.databaseUrl, 5432)
    await using worker = await openWorkerAt(harness, {
      databaseUrl: proxy.through(harness.backend.databaseUrl),
    })
    await runs(worker, 2)
    proxy.fallSilent()
    proxy.recover()
    await runs(worker, 2)
  })

  test.skipIf(!hasRedisServer)('in Redis are given up, and the work goes on', async () => {
    await using harness = await openQueueHarness('postgres')
    await using redis = await startRedis()
    await using proxy = await openSilentProxy(redis.url, 6379)
    await using worker = await openWorkerAt(harness, { redisUrl: proxy.through(redis.url) })
    await runs(worker, 2)
    proxy.fallSilent()
    proxy.recover()
    await runs(worker, 2)
  })
})

describe.skipIf(!hasRedisServer).concurrent('a Redis that stops working', () => {
  test.for([
    ['a replica', ['replicaof', '127.0.0.1', '1'], ['replicaof', 'no', 'one']],
    ['out of memory', ['config', 'set', 'maxmemory', '1'], ['config', 'set', 'maxmemory', '0']],
    [
      'without scripts',
      ['acl', 'setuser', 'default', '-@scripting'],
      ['acl', 'setuser', 'default', '+@scripting'],
    ],
  ] as const)('is called a few times a second, and used once it works again: %s', async ([, spoil, mend]) => {
    await using harness = await openQueueHarness('postgres')
    await using redis = await startRedis()
    await using worker = await openWorkerAt(harness, { redisUrl: redis.url })
    await runs(worker, 2)
    await redis.admin.call(...(spoil as unknown as [string, ...string[]]))
    await waitFor(() => worker.news().includes(AWAY), {
      what: 'the log line that it does not answer',
    })
    const before = { commands: await commandsOf(redis.admin), atMs: performance.now() }
    await waitFor(() => performance.now() - before.atMs > 3_000, { what: 'three seconds' })
    const perSecond =
      ((await commandsOf(redis.admin)) - before.commands) / ((performance.now() - before.atMs) / 1_000)
    expect(perSecond).toBeLessThan(40)
    await redis.admin.call(...(mend as unknown as [string, ...string[]]))
    await runs(worker, 2)
    await waitFor(() => worker.news().at(-1) === BACK, {
      what: 'the log line that it answers again',
    })
    expect(worker.news()).toEqual([AWAY, BACK])
  })
})

async function commandsOf(admin: { info(section: string): Promise<string> }): Promise<number> {
  return Number(/total_commands_processed:(\d+)/.exec(await admin.info('stats'))?.[1])
}

/** A way to Postgres that is shut at first: whoever connects is turned away at once, and counted. */
async function openShutProxy(databaseUrl: string) {
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
