import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { PostgresUnusable, reachPostgres } from '#src/db/reach-postgres.ts'
import { withDatabase } from '#test/support/database.ts'
import { freePort } from '#test/support/own-redis.ts'
import { openTestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

test('an abort ends the attempt at a Postgres that does not answer, however long the attempt may take', async () => {
  const taken: Socket[] = []
  await using server = createServer(socket => taken.push(socket.on('error', () => {}).resume()))
  const port = await portOf(server)
  const stop = new AbortController()
  const url = `postgres://somebody@127.0.0.1:${port}/ferry?connect_timeout=9999`
  const log = pino({ level: 'silent' })
  let failure: unknown
  const reached = reachPostgres(url, { secret: null, retryForMs: 0, signal: stop.signal, log }).catch(
    error => {
      failure = error
    },
  )
  try {
    await waitFor(() => taken.length === 1, { what: 'the attempt' })
    stop.abort()
    await waitFor(() => failure, { timeoutMs: 60_000, what: 'the attempt to end' })
    expect(failure).toMatchObject({ name: 'AbortError' })
  } finally {
    for (const socket of taken) socket.destroy()
    await reached
  }
})

/** What a message of Postgres has its length in front of. */
function message(type: string, ...parts: readonly (string | Buffer)[]): Buffer {
  const body = Buffer.concat(parts.map(part => Buffer.from(part)))
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}

/** Lets everybody in, and answers each statement with this number in one column. */
function answerWith(number: string, socket: Socket): void {
  const ready = message('Z', 'I')
  const column = Buffer.from([0, 0, 0, 0, 0, 0, 0, 0, 0, 23, 0, 4, 255, 255, 255, 255, 0, 0])
  const row = message('D', Buffer.from([0, 1, 0, 0, 0, number.length]), number)
  socket.once('data', () => {
    socket.write(Buffer.concat([message('R', Buffer.alloc(4)), ready]))
    socket.on('data', asked => {
      if (!`${asked}`.startsWith('Q')) return
      const described = message('T', Buffer.from([0, 1]), 'version\0', column)
      socket.write(Buffer.concat([described, row, message('C', 'SELECT 1\0'), ready]))
    })
  })
}

async function portOf(server: ReturnType<typeof createServer>): Promise<number> {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

const START_IT =
  'Start it, or correct DATABASE_URL. Without DATABASE_URL, Ferry starts a Postgres of its own.'

test('a Postgres that cannot be used is named with what is wrong and what to do', async () => {
  await using store = await openTestStore()
  const sockets: Socket[] = []
  await using old = createServer(socket => {
    sockets.push(socket.on('error', () => {}))
    answerWith('140012', socket)
  })
  await using silent = createServer(socket => sockets.push(socket.on('error', () => {}).resume()))
  const [oldPort, silentPort, closedPort] = [await portOf(old), await portOf(silent), await freePort()]
  const { host, pathname } = new URL(store.url)
  const logged: string[] = []
  const log = pino({ level: 'info' }, { write: line => logged.push(JSON.parse(line).msg) })
  const whyNot = async (url: string, retryForMs = 0) => {
    const signal = new AbortController().signal
    const failure: unknown = await reachPostgres(url, { secret: null, retryForMs, signal, log }).catch(e => e)
    if (!(failure instanceof PostgresUnusable)) throw failure
    return [failure.message, failure.whatToDo]
  }
  // What cannot help is not waited for.
  const minuteMs = 60_000
  expect(await whyNot(`postgres://a@127.0.0.1:${oldPort}/ferry?sslmode=disable`, minuteMs)).toEqual([
    `The Postgres at 127.0.0.1:${oldPort}/ferry (DATABASE_URL) is older than 15.`,
    'Set DATABASE_URL to Postgres 15 or newer.',
  ])
  expect(await whyNot(`${store.url}?sslmode=require&uselibpqcompat=true`, minuteMs)).toEqual([
    `Postgres at ${host}${pathname} (DATABASE_URL) and Ferry do not agree on encryption: The server does not support SSL connections`,
    'Name the certificate authority in DATABASE_URL (sslmode=verify-full&sslrootcert=FILE), or write sslmode=require to encrypt ' +
      'without checking the certificate, or sslmode=disable for a server without TLS.',
  ])
  expect(await whyNot(withDatabase(store.url, 'nowhere'), minuteMs)).toEqual([
    `Postgres at ${host}/nowhere (DATABASE_URL) refuses Ferry: database "nowhere" does not exist`,
    'Correct user, password (or DATABASE_PASSWORD_FILE) and database in DATABASE_URL. The database must exist, and the user must ' +
      'be allowed to connect to it.',
  ])
  expect(logged).toEqual([])
  expect(await whyNot(`postgres://a@127.0.0.1:${silentPort}/ferry?connect_timeout=1`)).toEqual([
    `Postgres at 127.0.0.1:${silentPort}/ferry (DATABASE_URL) does not answer: timeout expired`,
    `${START_IT} If DATABASE_URL leads to a pooler, it may have no connection to the server left: raise its pool size, or end its PAUSE.`,
  ])
  logged.length = 0
  expect(await whyNot(`postgres://a@127.0.0.1:${closedPort}/ferry`, 600)).toEqual([
    `Postgres at 127.0.0.1:${closedPort}/ferry (DATABASE_URL) does not answer: connect ECONNREFUSED 127.0.0.1:${closedPort}`,
    START_IT,
  ])
  expect(logged).toEqual([`Waiting for Postgres at 127.0.0.1:${closedPort}/ferry.`])
  for (const socket of sockets) socket.destroy()
})
