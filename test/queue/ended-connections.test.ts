import { type AddressInfo, connect, createServer } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { migrateQueue, openBackend } from '#src/queue/backend.ts'
import { openTestDatabase } from '#test/support/database.ts'
import { waitFor } from '#test/support/wait-for.ts'

/** The server's last words of a session that an administrator ended. */
const FATAL = errorResponse({ S: 'FATAL', C: '57P01', M: 'terminating connection' })
/** Tells that the server is ready for a query, outside of a transaction. */
const READY = Buffer.from('Z\0\0\0\x05I', 'latin1')

// An error that nobody listens for would fail this run of tests as a whole.
test('sessions that the server ends in the moment they are open end no process, and the worker listens on once they last', async () => {
  await using database = await openTestDatabase()
  await migrateQueue({ databaseUrl: database.url, redisUrl: null })
  await using proxy = await openEndingProxy(database.url)
  const log = pino({ level: 'silent' })
  const backend = openBackend({ databaseUrl: proxy.url, redisUrl: null, installation: 'i', log })
  const first = backend.openWorker('sync', async () => {}, 1)
  await expect(first.waitUntilReady()).rejects.toThrow()
  await first.close()

  proxy.recover()
  const worker = backend.openWorker('sync', async () => {}, 1)
  await worker.waitUntilReady()
  proxy.endSessions()
  const run = worker.run()
  await waitFor(() => proxy.ended() >= 3, { what: 'sessions that ended at once' })
  proxy.recover()
  await waitFor(() => proxy.listens(), { what: 'the worker to listen' })
  await worker.close()
  await run
})

test('a session that is ended in the moment it is open ends no process either if it is the one that listens', async () => {
  await using database = await openTestDatabase()
  await migrateQueue({ databaseUrl: database.url, redisUrl: null })
  await using proxy = await openEndingProxy(database.url, 1)
  const log = pino({ level: 'silent' })
  const backend = openBackend({ databaseUrl: proxy.url, redisUrl: null, installation: 'i', log })
  const worker = backend.openWorker('sync', async () => {}, 1)
  await worker.waitUntilReady()
  const run = worker.run()
  await waitFor(() => proxy.ended() >= 1, { what: 'the session that listens to be ended' })
  proxy.recover()
  await waitFor(() => proxy.listens(), { what: 'the worker to listen' })
  await worker.close()
  await run
})

/** Sends `FATAL` together with the first `READY` of each session but the first `spared` ones, until it recovers. */
async function openEndingProxy(url: string, spared = 0) {
  const target = new URL(url)
  let ended = 0
  let isOver = false
  let listens = false
  let sessions = 0
  const server = createServer(near => {
    sessions += 1
    const isSpared = sessions <= spared
    const far = connect(Number(target.port || 5432), target.hostname)
    near.on('error', () => far.destroy()).on('close', () => far.destroy())
    far.on('error', () => near.destroy()).on('close', () => near.destroy())
    near.on('data', (data: Buffer) => {
      listens ||= isOver && data.includes('LISTEN')
      far.write(data)
    })
    far.on('data', (data: Buffer) => {
      if (isOver || isSpared || data.indexOf(READY) < 0) return void near.write(data)
      ended += 1
      near.end(Buffer.concat([data, FATAL]))
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const own = new URL(url)
  own.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: own.href,
    ended: () => ended,
    listens: () => listens,
    recover() {
      isOver = true
    },
    /** Sessions made from now on. */
    endSessions() {
      isOver = false
    },
    async [Symbol.asyncDispose]() {
      await new Promise(resolve => server.close(resolve))
    },
  }
}

function errorResponse(fields: Readonly<Record<string, string>>): Buffer {
  const body = `${Object.entries(fields)
    .map(([code, text]) => `${code}${text}\0`)
    .join('')}\0`
  const head = Buffer.alloc(5, 'E')
  head.writeInt32BE(body.length + 4, 1)
  return Buffer.concat([head, Buffer.from(body)])
}
