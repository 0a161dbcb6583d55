import type { LookupAddress, lookup } from 'node:dns'
import { once } from 'node:events'
import { connect, createServer, isIP } from 'node:net'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { Secret } from '#src/model/secret.ts'
import { openCaller } from '#src/notify/caller.ts'
import { isPrivateAddress, publicLookup } from '#src/notify/private-addresses.ts'
import { openReceiver, status } from './receiver.ts'

const NEVER = new AbortController().signal
const NO_PROXY = { https: null, http: null, except: null }
const POSTING = { headers: { 'content-type': 'application/json' }, body: '{}' }

function openTestCaller(url: string, { allowsPrivate = true, withinMs = 200 } = {}) {
  return openCaller(new Secret(url), 'FERRY_WEBHOOK_URL', { allowsPrivate }, NO_PROXY, withinMs)
}

test('a receiver that hangs before it answers is given up in time', async () => {
  await using receiver = await openReceiver()
  receiver.answer = () => {}
  await using caller = openTestCaller(receiver.url)
  const result = await caller.call(POSTING, NEVER)
  expect(result).toEqual({
    ok: false,
    httpStatus: null,
    why: expect.stringContaining('there was no answer within 0.2 s at 127.0.0.1:'),
  })
})

test('a receiver that hangs in the middle of its answer has accepted the message', async () => {
  await using receiver = await openReceiver()
  receiver.answer = response => void response.writeHead(200).write('o')
  await using caller = openTestCaller(receiver.url)
  expect(await caller.call(POSTING, NEVER)).toEqual({ ok: true, httpStatus: 200 })
})

test('a receiver that takes connections and says nothing is given up too', async () => {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' ? address?.port : 0
  await using caller = openTestCaller(`http://127.0.0.1:${port}/`)
  expect(await caller.call(POSTING, NEVER)).toMatchObject({ ok: false, httpStatus: null })
  server.close()
})

test('a redirect is not followed: nothing else is called', async () => {
  await using elsewhere = await openReceiver()
  await using receiver = await openReceiver()
  await using caller = openTestCaller(receiver.url)
  for (const code of [301, 302, 303, 307, 308]) {
    receiver.answer = status(code, { location: elsewhere.url })
    const result = await caller.call(POSTING, NEVER)
    expect(result).toMatchObject({ ok: false, httpStatus: code, why: expect.stringContaining('redirect') })
  }
  expect(elsewhere.received).toEqual([])
})

test('no failure repeats the address, which is often a secret', async () => {
  await using caller = openTestCaller('http://127.0.0.1:9/services/canary?token=canary')
  const result = await caller.call(POSTING, NEVER)
  expect(result).toMatchObject({ ok: false, why: expect.stringContaining('refused') })
  expect(JSON.stringify(result)).not.toContain('canary')
})

test.for([
  ['its number', (url: string) => url],
  ['another spelling of its number', (url: string) => url.replace('127.0.0.1', '0x7f.1')],
  ['a name that leads to it', (url: string) => url.replace('127.0.0.1', 'localhost')],
] as const)('without private addresses nothing is sent to one given by %s', async ([, spelled]) => {
  await using receiver = await openReceiver()
  await using caller = openTestCaller(spelled(receiver.url), { allowsPrivate: false })
  const result = await caller.call(POSTING, NEVER)
  expect(result).toMatchObject({ ok: false, why: expect.stringContaining('FERRY_WEBHOOK_PRIVATE=false') })
  expect(receiver.received).toEqual([])
})

test('with private addresses, a name that leads to one is called', async () => {
  await using receiver = await openReceiver()
  await using caller = openTestCaller(receiver.url.replace('127.0.0.1', 'localhost'), { withinMs: 5_000 })
  expect(await caller.call(POSTING, NEVER)).toMatchObject({ ok: true })
  expect(receiver.received).toHaveLength(1)
})

/** Names that lead elsewhere each time they are looked up; the last answer stays. */
function changingNames(...answers: readonly (readonly string[])[]) {
  const asked: string[] = []
  const lookUp = (name: string, _options: object, done: (error: null, found: LookupAddress[]) => void) => {
    const found = answers[Math.min(asked.push(name), answers.length) - 1] ?? []
    const addresses = found.map(address => ({ address, family: isIP(address) }))
    setImmediate(() => done(null, addresses))
  }
  return { asked, lookUp: lookUp as typeof lookup }
}

test('a name that changes between the check and the connection leads to the address that was checked', async () => {
  const { asked, lookUp } = changingNames(['198.41.0.4'], ['127.0.0.1'])
  const socket = connect({
    host: 'rebind.example.com',
    port: 9,
    autoSelectFamily: false,
    lookup: publicLookup(lookUp),
  })
  socket.on('error', () => {})
  const [error, address] = await once(socket, 'lookup')
  socket.destroy()
  expect([error, address]).toEqual([null, '198.41.0.4'])
  expect(asked).toEqual(['rebind.example.com'])
})

test('a name is refused once it leads to a private address, also to one among public ones', async () => {
  for (const answers of [
    [['198.41.0.4'], ['10.0.0.1']],
    [['198.41.0.4'], ['198.41.0.4', '::1']],
  ]) {
    const lookUp = promisify(publicLookup(changingNames(...answers).lookUp))
    await expect(lookUp('rebind.example.com', { all: true })).resolves.toEqual([
      { address: '198.41.0.4', family: 4 },
    ])
    await expect(lookUp('rebind.example.com', {})).rejects.toThrow('on a private network')
  }
})

test.for([
  '10.1.2.3',
  '172.31.255.255',
  '192.168.0.1',
  '169.254.169.254',
  '100.64.0.1',
  '127.8.8.8',
  '0.0.0.0',
  '239.1.1.1',
  '::1',
  '::',
  'fd00::1',
  'fe80::1',
  'fec0::1',
  '::ffff:10.1.2.3',
  '::ffff:7f00:1',
  '64:ff9b::a01:203',
  '64:ff9b:1::a01:203',
  '2002:a01:203::1',
  // The first and the last address of each network of the registries that is not reachable by all.
  ...[
    '0.255.255.255',
    '100.127.255.255',
    '192.0.0.255',
    '192.0.2.0',
    '192.0.2.255',
    '192.88.99.0',
    '192.88.99.255',
  ],
  ...['198.18.0.0', '198.19.255.255', '198.51.100.0', '198.51.100.255', '203.0.113.0', '203.0.113.255'],
  ...['224.0.0.0', '240.0.0.0', '255.255.255.255', '::ffff:0:0:0', '::ffff:0:ffff:ffff', '::ffff:192.0.2.1'],
  ...['100::1', '100:0:0:1:ffff::', '2001::1', '2001:2::1', '2001:10::1', '2001:1ff:ffff::', '2001:db8::1'],
  ...['2001:db8:ffff::', '3fff::1', '3fff:fff:ffff::', '5f00::1', '5f00:ffff::', 'febf::1', 'ff02::1'],
])('%s is private', address => {
  expect(isPrivateAddress(address)).toBe(true)
})

test.for([
  ...['8.8.8.8', '172.32.0.1', '100.128.0.1', '192.0.1.1', '192.0.3.1', '192.88.98.255', '192.88.100.0'],
  ...[
    '198.17.255.255',
    '198.20.0.0',
    '198.51.99.255',
    '198.51.101.0',
    '203.0.112.255',
    '203.0.114.0',
    '223.255.255.255',
  ],
  ...[
    '2606:4700::1111',
    '2a00:1450::1',
    '2001:200::1',
    '2001:db7::1',
    '2001:db9::1',
    '3ffe::1',
    '4000::1',
    '5eff::1',
    '5f01::1',
  ],
])('%s is public', address => {
  expect(isPrivateAddress(address)).toBe(false)
})
