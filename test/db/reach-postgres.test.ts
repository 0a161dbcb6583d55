import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { reachPostgres } from '#src/db/reach-postgres.ts'
import { waitFor } from '#test/support/wait-for.ts'

test('an abort ends the attempt at a Postgres that does not answer, however long the attempt may take', async () => {
  const taken: Socket[] = []
  await using server = createServer(socket => taken.push(socket.on('error', () => {}).resume()))
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const stop = new AbortController()
  const url = `postgres://somebody@127.0.0.1:${address.port}/ferry?connect_timeout=9999`
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
