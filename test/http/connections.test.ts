import { once } from 'node:events'
import { Agent, createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { describe, expect, test } from 'vitest'
import { boundConnections, networkOf } from '#src/http/connections.ts'
import { BOTH_TOKENS } from './console/console-harness.ts'
import { ask, openTestHttp } from './http-harness.ts'

/** As `MAX_OF_ONE_ADDRESS` and `MAX_CONNECTIONS` in connections.ts. */
const OF_ONE = 600
const IN_ALL = 1_000

const ONE = ['127.0.7.1']
const TEN = Array.from({ length: 10 }, (_, index) => `127.0.7.${index + 1}`)

type Crowd = Disposable & {
  /** Opens so many connections more, in turn from each address, and sends the text on each. */
  grow(count: number, sends?: string): Promise<void>
  /** How many are open, as far as this side knows. */
  open(): number
  isOpen(index: number): boolean
  send(index: number, text: string): void
}

/** Connections from addresses of this machine, numbered in the order in which they were opened. */
function createCrowd(address: string, from: readonly string[]): Crowd {
  const { hostname, port } = new URL(address)
  const sockets: Socket[] = []
  return {
    open: () => sockets.filter(socket => !socket.closed).length,
    isOpen: index => sockets[index]?.closed === false,
    send: (index, sent) => sockets[index]?.write(sent),
    async grow(count, sends = '') {
      const added = Array.from({ length: count }, (_, index) => {
        const localAddress = from[(sockets.length + index) % from.length] ?? ''
        const socket = connect({ host: hostname, port: Number(port), localAddress })
        socket.on('error', () => {}).resume()
        socket.write(sends)
        return socket
      })
      sockets.push(...added)
      await Promise.all(added.map(socket => Promise.race([once(socket, 'connect'), once(socket, 'close')])))
    },
    [Symbol.dispose]() {
      for (const socket of sockets) socket.destroy()
    },
  }
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const BODY =
  'Host: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 9000\r\n\r\nx'
const CROWDS = [
  { they: 'say nothing', sends: '' },
  { they: 'send half a request', sends: 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-' },
  { they: 'send half a form', sends: `POST /ledger/schedules/prune/*/pause HTTP/1.1\r\n${BODY}` },
  { they: 'asked once, and stay', sends: get('/livez') },
]

describe.each(CROWDS)('while hundreds of connections $they', ({ sends }) => {
  test.each([
    { count: 150, from: ONE },
    { count: OF_ONE, from: ONE },
    { count: IN_ALL, from: TEN },
  ])('every probe is answered: $count from the addresses $from', async ({ count, from }) => {
    await using http = await openTestHttp({ console: BOTH_TOKENS })
    using crowd = createCrowd(http.address, from)
    await crowd.grow(count, sends)
    for (let probe = 0; probe < 10; probe += 1) {
      const [{ status }] = await Promise.all([ask(`${http.address}/livez`), crowd.grow(50, sends)])
      expect(status).toBe(200)
    }
  })
})

describe('which connection is closed', () => {
  test('one of an address that has 600, and none of another one', async () => {
    await using http = await openTestHttp()
    using other = createCrowd(http.address, ['127.0.0.1'])
    await other.grow(1)
    using crowd = createCrowd(http.address, ONE)
    await crowd.grow(OF_ONE)
    expect(crowd.open()).toBe(OF_ONE)
    await crowd.grow(2)
    await expect.poll(crowd.open).toBe(OF_ONE)
    expect([0, 1, 2].map(crowd.isOpen)).toEqual([false, false, true])
    expect(other.isOpen(0)).toBe(true)
  })

  test('the oldest of all, if there are 1,000', async () => {
    await using http = await openTestHttp()
    using crowd = createCrowd(http.address, TEN)
    await crowd.grow(IN_ALL)
    expect(crowd.open()).toBe(IN_ALL)
    await crowd.grow(2)
    await expect.poll(crowd.open).toBe(IN_ALL)
    expect([0, 1, 2].map(crowd.isOpen)).toEqual([false, false, true])
  })

  test('the one that sent no request for longest, and none that is being answered', async () => {
    await using server = await openSlowServer()
    using crowd = createCrowd(server.address, ONE)
    await crowd.grow(1, get('/slow'))
    await crowd.grow(3)
    await expect.poll(server.connections).toBe(4)
    crowd.send(1, get('/'))
    await expect.poll(server.asked).toBe(2)
    crowd.send(2, `POST /slow HTTP/1.1\r\n${BODY}`)
    await expect.poll(server.asked).toBe(3)
    await crowd.grow(OF_ONE - 4)
    await crowd.grow(1)
    await expect.poll(crowd.open).toBe(OF_ONE)
    expect([0, 1, 2, 3, 4].map(crowd.isOpen)).toEqual([true, true, true, false, true])
    await crowd.grow(OF_ONE - 2)
    await expect.poll(crowd.open).toBe(OF_ONE)
    expect([0, 1, 2].map(crowd.isOpen)).toEqual([true, false, false])
  })

  test('none that is being answered, though the answer before it on the same connection has ended', async () => {
    await using server = await openSlowServer()
    using crowd = createCrowd(server.address, ONE)
    await crowd.grow(1, get('/') + get('/slow'))
    await expect.poll(server.asked).toBe(2)
    await crowd.grow(OF_ONE)
    await expect.poll(crowd.open).toBe(OF_ONE)
    expect([0, 1].map(crowd.isOpen)).toEqual([true, false])
  })

  test('one that does not read its answer', async () => {
    await using server = await openSlowServer()
    const { hostname, port } = new URL(server.address)
    const deaf = connect({ host: hostname, port: Number(port), localAddress: ONE[0] })
    deaf.on('error', () => {}).write(get('/long'))
    await expect.poll(server.asked).toBe(1)
    using crowd = createCrowd(server.address, ONE)
    await crowd.grow(OF_ONE)
    await expect.poll(server.accepted).toBe(OF_ONE + 1)
    crowd.send(0, get('/'))
    await expect.poll(server.asked).toBe(2)
    deaf.destroy()
  })

  test('even one that is being answered, if all are', async () => {
    await using server = await openSlowServer()
    using crowd = createCrowd(server.address, ONE)
    await crowd.grow(OF_ONE, get('/slow'))
    await expect.poll(server.asked).toBe(OF_ONE)
    const agent = new Agent({ localAddress: ONE[0]! })
    expect((await ask(`${server.address}/`, { agent })).status).toBe(200)
    expect([0, 1].map(crowd.isOpen)).toEqual([false, true])
  })

  test('none for one that has ended', async () => {
    await using server = await openSlowServer()
    using older = createCrowd(server.address, ONE)
    await older.grow(1)
    using gone = createCrowd(server.address, ONE)
    await gone.grow(OF_ONE - 1)
    gone[Symbol.dispose]()
    await expect.poll(server.connections).toBe(1)
    using crowd = createCrowd(server.address, ONE)
    await crowd.grow(OF_ONE - 1)
    await expect.poll(server.connections).toBe(OF_ONE)
    expect([older.open(), crowd.open()]).toEqual([1, OF_ONE - 1])
  })
})

test('FERRY_HTTP_HOST=localhost bounds its connections too', async () => {
  await using http = await openTestHttp({ host: 'localhost' })
  const { port } = new URL(http.address)
  using crowd = createCrowd(`http://127.0.0.1:${port}`, ONE)
  await crowd.grow(OF_ONE + 1)
  await expect.poll(crowd.open).toBe(OF_ONE)
})

test.each([
  ['127.0.0.1', '127.0.0.1'],
  ['::ffff:10.0.0.7', '10.0.0.7'],
  ['::1', '0:0:0:0::/64'],
  ['2001:db8::1', '2001:db8:0:0::/64'],
  ['2001:db8::', '2001:db8:0:0::/64'],
  ['2001:0db8:0:0:ffff:ffff:ffff:ffff', '2001:db8:0:0::/64'],
  ['2001:db8:0:1::1', '2001:db8:0:1::/64'],
  ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  [undefined, 'unknown'],
])('%s counts as %s', (address, network) => {
  expect(networkOf(address)).toBe(network)
})

/** More than the system keeps for a client that does not read. */
const LONG = Buffer.alloc(64_000_000)

/** A server whose `/slow` is answered when it closes. */
async function openSlowServer() {
  const slow: ServerResponse[] = []
  let asked = 0
  let accepted = 0
  const server = createServer((request, response) => {
    asked += 1
    if (request.url === '/slow') slow.push(response)
    else response.end(request.url === '/long' ? LONG : '')
  })
  boundConnections(server)
  server.on('connection', () => {
    accepted += 1
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked,
    accepted: () => accepted,
    connections: () =>
      new Promise<number>((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    async [Symbol.asyncDispose]() {
      for (const response of slow) response.end()
      server.closeAllConnections()
      await new Promise(resolve => server.close(resolve))
    },
  }
}
