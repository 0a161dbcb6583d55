import { Agent } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { createListener, isAllowedHost } from '#src/http/listener.ts'
import { BOTH_TOKENS, bearing, READ_TOKEN } from './console/console-harness.ts'
import { ask, openTestHttp } from './http-harness.ts'

test('a request for another host is refused, on every path, with a plain sentence', async () => {
  await using http = await openTestHttp({ hosts: ['ferry.internal'] })
  for (const path of ['/livez', '/readyz', '/metrics', '/nowhere']) {
    const refused = await ask(http.address + path, { headers: { host: 'evil.example' } })
    expect(refused.status).toBe(421)
    expect(refused.json).toEqual({
      error:
        'This server does not answer for this host name. Add the name to FERRY_HTTP_HOSTS if it is yours.',
    })
  }
  for (const host of ['ferry.internal', 'FERRY.internal:80', '[::1]', 'localhost:1']) {
    expect((await ask(`${http.address}/livez`, { headers: { host } })).status).toBe(200)
  }
})

test('a request with two Host headers is refused, whichever is the good one', async () => {
  await using http = await openTestHttp()
  const port = Number(new URL(http.address).port)
  for (const hosts of [
    ['localhost', 'evil.example'],
    ['evil.example', 'localhost'],
    ['localhost', 'localhost'],
  ]) {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET /livez HTTP/1.1\r\n${hosts.map(host => `Host: ${host}\r\n`).join('')}\r\n`)
    const answer = await text(socket)
    expect(answer).toMatch(/^HTTP\/1\.1 400 /)
    expect(answer).toContain('more than one Host header')
  }
})

test('a request as to a proxy is refused if the host in its address is another one', async () => {
  await using http = await openTestHttp({ hosts: ['ferry.internal'] })
  const port = Number(new URL(http.address).port)
  async function statusOf(address: string): Promise<string | undefined> {
    const socket = connect(port, '127.0.0.1')
    socket.write(`GET ${address} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
    return (await text(socket)).split(' ')[1]
  }
  expect(await statusOf('http://ferry.internal:80/livez')).toBe('200')
  for (const other of [
    'http://evil.example/livez',
    'HTTP://evil.example',
    'http://a@localhost/livez',
    'x://e?/livez',
  ]) {
    expect(await statusOf(other)).toBe('421')
  }
})

test('an unknown path is 404 in JSON, and answers are kept by nobody', async () => {
  await using http = await openTestHttp()
  for (const path of ['/', '/nowhere', '/livez/', '//livez', '/../etc/passwd', '/%00', '/%E0%A4%A']) {
    const answered = await ask(http.address + path)
    expect([400, 404]).toContain(answered.status)
    expect(answered.json).toEqual({ error: expect.any(String) })
  }
  const alive = await ask(`${http.address}/livez?x=1`)
  expect(alive).toMatchObject({
    status: 200,
    json: { alive: true },
    headers: { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' },
  })
})

test('only GET and HEAD are answered, whatever the body', async () => {
  await using http = await openTestHttp()
  expect(await ask(`${http.address}/livez`, { method: 'HEAD' })).toMatchObject({ status: 200, text: '' })
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'PROPFIND']) {
    const refused = await ask(`${http.address}/livez`, {
      method,
      headers: { 'content-type': 'application/x-strange', 'content-length': '100000' },
      body: 'x'.repeat(100_000),
    })
    expect(refused).toMatchObject({ status: 405, headers: { allow: 'GET, HEAD' } })
  }
  const withBody = await ask(`${http.address}/livez`, {
    body: '{',
    headers: { 'content-type': 'application/json', 'content-length': '1' },
  })
  expect(withBody.status).toBe(200)
})

test.for([
  ['GET', '/nowhere', 404, 'Nothing is at this path. See /livez, /readyz, /freshness and /metrics.'],
  ['GET', '/%', 400, 'This request is malformed.'],
  ['POST', '/livez', 405, 'This path allows only GET and HEAD.'],
  ['POST', '/nowhere', 405, 'This path allows only GET and HEAD.'],
] as const)('%s %s is refused with %i, and told why', async ([method, path, status, error]) => {
  await using http = await openTestHttp()
  const answered = await ask(http.address + path, { method })
  expect(answered).toMatchObject({ status, headers: { 'cache-control': 'no-store' }, json: { error } })
})

test('a fault of a route is answered without its words', async () => {
  const app = createListener([], () => null)
  app.get('/fails', async () => Promise.reject(new Error('the secret')))
  const { statusCode, json } = await app.inject('/fails')
  expect([statusCode, json()]).toEqual([500, { error: 'Internal error in Ferry.' }])
  await app.close()
})

test('a form of 16 KiB is read, and a longer one is not; an id has at most 3,000 characters', async () => {
  await using http = await openTestHttp({ console: BOTH_TOKENS })
  const form = (length: number) =>
    ask(`${http.address}/ledger/schedules/prune/*/pause`, {
      method: 'POST',
      headers: { 'content-type': 'application/x-www-form-urlencoded', ...bearing(READ_TOKEN) },
      body: 'x'.repeat(length),
    })
  expect((await form(16_384)).status).toBe(403)
  expect(await form(16_385)).toMatchObject({
    status: 413,
    json: { error: 'The body of this request is longer than 16 KiB.' },
  })
  const server = (length: number) =>
    ask(`${http.address}/servers/a/${'x'.repeat(length)}`, { headers: bearing(READ_TOKEN) })
  // This worker only starts.
  expect([(await server(3_000)).status, (await server(3_001)).status]).toEqual([503, 404])
})

test('what is not HTTP gets an answer that says so', async () => {
  await using http = await openTestHttp()
  const socket = connect(Number(new URL(http.address).port), '127.0.0.1')
  socket.end('hello\r\n\r\n')
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 400 [\s\S]*"This is not an HTTP request\."/)
})

test('a connection that is kept alive, or never sends its request, does not hold the end', async () => {
  const http = await openTestHttp()
  const agent = new Agent({ keepAlive: true })
  await ask(`${http.address}/livez`, { agent })
  const silent = connect(Number(new URL(http.address).port), '127.0.0.1').on('error', () => {})
  silent.write('GET /livez HTTP/1.1\r\n')
  await delay(50)
  const beganAtMs = performance.now()
  await http[Symbol.asyncDispose]()
  expect(performance.now() - beganAtMs).toBeLessThan(4_500)
  agent.destroy()
  await expect(ask(`${http.address}/livez`)).rejects.toThrow('ECONNREFUSED')
})

test('a port that is taken is refused in words, or another one is found', async () => {
  await using http = await openTestHttp()
  const port = Number(new URL(http.address).port)
  await expect(openTestHttp({ port })).rejects.toMatchObject({
    name: 'AddressUnusable',
    message: `HTTP cannot listen on 127.0.0.1:${port}: another program uses this port.`,
    whatToDo: expect.stringContaining('FERRY_HTTP_PORT'),
  })
  await using other = await openTestHttp({ port, orFree: true })
  expect(other.address).not.toBe(http.address)
  expect(Number(new URL(other.address).port)).toBeGreaterThan(1023)
  expect((await ask(`${other.address}/livez`)).status).toBe(200)
  await expect(openTestHttp({ host: '192.0.2.1' })).rejects.toThrow('this machine does not have this address')
})

test.each([
  undefined,
  '127.0.0.1',
  '127.0.0.1:3377',
  '10.0.0.7:80',
  '[::1]:3377',
  '[fe80::1]',
  'localhost',
  'LocalHost:3377',
  'ferry.internal:3377',
])('a request for %s is answered', host => {
  expect(isAllowedHost(host, ['ferry.internal'])).toBe(true)
})

test.each([
  '',
  'evil.example',
  'evil.example:3377',
  'localhost.evil.example',
  'localhost.',
  'evil.example/localhost',
  'a@localhost',
  'localhost:3377:1',
  '127.0.0.1.evil.example',
  '127.1',
  '2130706433',
  '::1',
  '[evil.example]',
  '[127.0.0.1]',
  'sub.ferry.internal',
])('a request for %j is not answered', host => {
  expect(isAllowedHost(host, ['ferry.internal'])).toBe(false)
})
