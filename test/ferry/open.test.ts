import { connect, createServer } from 'node:net'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { openFerry } from '#src/ferry.ts'
import { openTestDatabase } from '#test/support/database.ts'

test('a command that makes one query takes two connections: one to look at the schema, and one of the pool', async () => {
  await using database = await openTestDatabase()
  const { hostname, port } = new URL(database.url)
  let connections = 0
  await using proxy = createServer(near => {
    connections++
    const far = connect({ host: hostname, port: Number(port) })
    near.on('error', () => {}).on('close', () => far.destroy())
    far.on('error', () => {}).on('close', () => near.destroy())
    near.pipe(far).pipe(near)
  })
  await new Promise<void>(resolve => proxy.listen(0, '127.0.0.1', resolve))
  const DATABASE_URL = Object.assign(new URL(database.url), { port: Object(proxy.address()).port }).href
  const config = readConfig({ DATABASE_URL, FERRY_BASE_URL: 'http://127.0.0.1:1', FERRY_APP_KEY: 'key' })
  {
    await using ferry = await openFerry(config, {
      log: pino({ level: 'silent' }),
      signal: new AbortController().signal,
    })
    await ferry.pool.query('select')
  }
  expect(connections).toBe(2)
})
