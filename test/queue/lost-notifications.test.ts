import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { expect, inject, test } from 'vitest'
import { expectSessions } from '#src/queue/check.ts'

const NOTIFICATION = 'A'.charCodeAt(0)

/** A server on the way to Postgres that passes everything on but notifications, as a pooler of transactions loses them. */
async function openDeafProxy(url: string) {
  const { hostname, port } = new URL(url)
  const server = createServer(near => {
    const far = connect(Number(port || 5432), hostname)
    near.pipe(far).on('error', () => {})
    near.on('error', () => {})
    let rest: Buffer = Buffer.alloc(0)
    far.on('close', () => near.destroy())
    far.on('data', (chunk: Buffer) => {
      rest = Buffer.concat([rest, chunk])
      for (let end = endOf(rest); end <= rest.length; end = endOf(rest)) {
        if (rest[0] !== NOTIFICATION) near.write(Buffer.from(rest.subarray(0, end)))
        rest = rest.subarray(end)
      }
    })
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const through = new URL(url)
  through.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url: through.href, [Symbol.dispose]: () => server.close() }
}

/** The end of the first message: each has a letter and its length. */
function endOf(bytes: Buffer): number {
  return bytes.length < 5 ? Number.POSITIVE_INFINITY : 1 + bytes.readUInt32BE(1)
}

test('a way to Postgres on which notifications get lost is refused: the queue would not learn of its work', async () => {
  const { serverUrl } = inject('database')
  await expectSessions({ databaseUrl: serverUrl })
  using proxy = await openDeafProxy(serverUrl)
  await expect(expectSessions({ databaseUrl: proxy.url })).rejects.toThrow(
    'it pools transactions, and loses notifications. Set REDIS_URL',
  )
})
