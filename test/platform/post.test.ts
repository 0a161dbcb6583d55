import { createServer, type Server, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { listRules } from '#test/support/collect-rows.ts'
import { importOnce, SMALL_BATCH, UNCERTAIN } from '#test/support/import-once.ts'
import { createThrottle } from '../support/create-throttle.ts'
import { answerJson, openScriptedPlatform, type Script, success } from '../support/scripted-platform.ts'
import { waitFor } from '../support/wait-for.ts'

const context = { runId: null, signal: new AbortController().signal }
const unsent = {
  ok: false,
  requests: 0,
  refusal: { kind: 'not-sent', code: 'NotSent', retryable: true, certain: true },
}

const broken: [what: string, httpStatus: number | null, Script][] = [
  ['a connection closed without an answer', null, (_request, response) => response.destroy()],
  ['a reset', null, (_request, response) => (response.socket as Socket).resetAndDestroy()],
  [
    'an answer cut short',
    200,
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': 100 })
      response.write('{"request_id":', () => response.destroy())
    },
  ],
  [
    'a packed answer cut short',
    200,
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
      response.end(gzipSync(JSON.stringify(success({}))).subarray(0, 30))
    },
  ],
  [
    'an answer packed in a way not asked for',
    200,
    (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'br' })
      response.end('?')
    },
  ],
  ['what is not HTTP', null, (_request, response) => void response.socket?.end('SSH-2.0-OpenSSH\r\n')],
]
test.each(broken)('%s leaves the outcome unknown', async (_what, httpStatus, script) => {
  await using platform = await openScriptedPlatform(script)
  const answer = await importOnce(platform, SMALL_BATCH, context)
  expect(answer).toMatchObject({ ...UNCERTAIN, refusal: { ...UNCERTAIN.refusal, httpStatus } })
  expect(platform.throttle.calls).toMatchObject([
    { state: 'finished', end: { httpStatus, errorCode: 'NoAnswer' } },
  ])
})

test('an answer that unpacks to more than fits is not unpacked', async () => {
  const bomb = Buffer.concat(Array(17).fill(gzipSync(Buffer.alloc(16 * 1024 * 1024))))
  await using platform = await openScriptedPlatform((_request, response) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' })
    response.end(bomb)
  })
  const answer = await importOnce(platform, SMALL_BATCH, context)
  expect(answer).toMatchObject({
    ok: false,
    requests: 1,
    refusal: { kind: 'answer-too-large', retryable: false, certain: false, httpStatus: 200 },
  })
})

test('what cannot be reached was certainly not sent, and its permit is returned', async () => {
  const closed = await closedPort()
  await using plainHttp = await openScriptedPlatform(() => {})
  for (const baseUrl of [
    `http://127.0.0.1:${closed}`,
    'http://no-such-host.invalid',
    plainHttp.origin.replace('http:', 'https:'),
  ]) {
    await using platform = await openScriptedPlatform(() => {}, { baseUrl })
    expect(await importOnce(platform, SMALL_BATCH, context), baseUrl).toMatchObject(unsent)
    expect(platform.throttle.calls).toMatchObject([{ state: 'returned' }])
  }
})

test('a listing that cannot be sent is tried three times without a request', async () => {
  await using platform = await openScriptedPlatform(() => {}, {
    baseUrl: `http://127.0.0.1:${await closedPort()}`,
  })
  expect(await listRules(platform.client, context)).toMatchObject(unsent)
  expect(platform.throttle.calls.map(({ state }) => state)).toEqual(Array(3).fill('returned'))
})

test('a permit that expired before it was used is returned, and another one acquired', async () => {
  const throttle = createThrottle({ onAcquire: async n => (n <= 2 ? 1_500 : 0) })
  await using platform = await openScriptedPlatform(
    (_request, response) => answerJson(response, success({})),
    { throttle },
  )
  expect(await importOnce(platform, SMALL_BATCH, context)).toMatchObject({ ok: true, requests: 1 })
  expect(throttle.calls.map(({ state }) => state)).toEqual(['returned', 'returned', 'finished'])
  expect(platform.received).toHaveLength(1)
})

test('permits that keep expiring before they are used are reported, and no longer once one is used', async () => {
  const throttle = createThrottle({ onAcquire: async n => (n <= 25 || (n > 26 && n <= 34) ? 1_500 : 0) })
  await using platform = await openScriptedPlatform(
    (_request, response) => answerJson(response, success({})),
    { throttle },
  )
  const warnings = () => platform.logs.map(line => JSON.parse(line)).filter(({ level }) => level === 40)
  expect(await importOnce(platform, SMALL_BATCH, context)).toMatchObject({ ok: true })
  expect(warnings()).toMatchObject([{ expiredInARow: 10 }, { expiredInARow: 20 }])
  expect(warnings()[0].msg).toContain('FERRY_ARRIVAL_BOUND')
  expect(await importOnce(platform, SMALL_BATCH, context)).toMatchObject({ ok: true })
  expect(throttle.calls).toHaveLength(35)
  expect(warnings()).toHaveLength(2)
})

test('a worker that slept while it connected sends nothing, not even headers, before it has a valid permit', async () => {
  const secondPermit = Promise.withResolvers<number>()
  const throttle = createThrottle({
    permitGoodForMs: 100,
    onAcquire: async n => (n === 1 ? 0 : secondPermit.promise),
  })
  const bytes: Buffer[] = []
  await using server = await rawServer(socket => {
    sleepAllThreads(300)
    socket.on('data', (chunk: Buffer) => bytes.push(chunk))
    socket.once('data', () => socket.end(httpAnswer(JSON.stringify(success({})))))
  })
  await using platform = await openScriptedPlatform(() => {}, { throttle, baseUrl: server.origin })

  const answer = importOnce(platform, SMALL_BATCH, context)
  await waitFor(() => throttle.calls[0]?.state === 'returned', { what: 'the old permit to be returned' })
  await settled()
  expect(bytes).toEqual([])
  secondPermit.resolve(0)
  expect(await answer).toMatchObject({ ok: true, requests: 1 })
  expect(Buffer.concat(bytes).toString()).toMatch(/^POST .*"recipient":"a@b\.c"/s)
  expect(throttle.calls.map(({ state }) => state)).toEqual(['returned', 'finished'])
})

test('a connection that closes while a new permit is waited for was not used, and no permit is kept', async () => {
  const givenUp = Promise.withResolvers<void>()
  const throttle = createThrottle({
    permitGoodForMs: 100,
    onAcquire: async (n, signal) => {
      if (n === 1) return 0
      signal.addEventListener('abort', () => givenUp.resolve())
      await givenUp.promise
      throw signal.reason
    },
  })
  const sockets: Socket[] = []
  await using server = await rawServer(socket => {
    sleepAllThreads(300)
    sockets.push(socket)
  })
  await using platform = await openScriptedPlatform(() => {}, { throttle, baseUrl: server.origin })
  const answer = importOnce(platform, SMALL_BATCH, context)
  await waitFor(() => throttle.calls[0]?.state === 'returned', { what: 'the old permit to be returned' })
  sockets[0]?.end('HTTP/1.1 408 Request Timeout\r\nconnection: close\r\ncontent-length: 0\r\n\r\n')
  expect(await answer).toMatchObject(unsent)
  await givenUp.promise
  expect(throttle.calls.map(({ state }) => state)).toEqual(['returned'])
})

test.each([
  ['the first', 1],
  ['one that replaces an expired one', 2],
])('a permit that comes after the call was given up is returned: %s', async (_which, last) => {
  const stop = new AbortController()
  const throttle = createThrottle({ onAcquire: async n => (n < last ? 1_500 : 0) })
  await using platform = await openScriptedPlatform(() => {}, {
    throttle: {
      ...throttle,
      async acquirePermit(call, signal) {
        const permit = await throttle.acquirePermit(call, signal)
        if (throttle.calls.length === last) stop.abort(new Error('shutting down'))
        return permit
      },
    },
  })
  const listing = listRules(platform.client, { runId: null, signal: stop.signal })
  await expect(listing).rejects.toThrow('shutting down')
  expect(throttle.calls.map(({ state }) => state)).toEqual(Array(last).fill('returned'))
  expect(platform.received).toEqual([])
})

test('a request that is not handed over within the arrival bound is aborted', async () => {
  const throttle = createThrottle({ permitGoodForMs: 100, arrivalBoundMs: 300 })
  await using server = await rawServer(socket => socket.pause())
  await using platform = await openScriptedPlatform(() => {}, { throttle, baseUrl: server.origin })
  const subscribers = [{ recipient: 'a'.repeat(64 * 1024 * 1024), all: true as const, locale: 'en-US' }]
  const answer = await importOnce(platform, { ...SMALL_BATCH, subscribers }, context)
  expect(answer).toMatchObject(UNCERTAIN)
  const host = new URL(server.origin).host
  expect(!answer.ok && answer.refusal.message).toBe(
    `The call got no complete answer: the request could not be written in time at ${host} (FERRY_BASE_URL).`,
  )
})

test('a fault of the throttle is thrown, not taken for one of the network', async () => {
  const fault = new Error('the database is gone')
  const throttle = createThrottle({ onAcquire: async () => Promise.reject(fault) })
  await using platform = await openScriptedPlatform(() => {}, { throttle })
  await expect(importOnce(platform, SMALL_BATCH, context)).rejects.toBe(fault)

  const late = createThrottle({
    permitGoodForMs: 100,
    onAcquire: async n => (n === 1 ? 0 : Promise.reject(fault)),
  })
  await using server = await rawServer(() => sleepAllThreads(300))
  await using other = await openScriptedPlatform(() => {}, { throttle: late, baseUrl: server.origin })
  await expect(importOnce(other, SMALL_BATCH, context)).rejects.toBe(fault)
})

test('calls go through the proxy of their scheme, except to hosts that are left out', async () => {
  await using proxy = await openScriptedPlatform((_request, response) => answerJson(response, success({})))
  const choice = { http: proxy.origin, https: null, except: 'elsewhere.invalid' }
  await using through = await openScriptedPlatform(() => {}, {
    baseUrl: 'http://platform.invalid',
    proxy: choice,
  })
  await using around = await openScriptedPlatform(() => {}, {
    baseUrl: 'http://elsewhere.invalid',
    proxy: choice,
  })
  expect(await importOnce(through, SMALL_BATCH, context)).toMatchObject({ ok: true, requests: 1 })
  expect(await importOnce(around, SMALL_BATCH, context)).toMatchObject(unsent)
  expect(proxy.received.map(({ url }) => url.split('?')[0])).toEqual([
    'http://platform.invalid/status-page/subscriber/import',
  ])
})

/** Neither side of a connection within this process can do anything meanwhile, as under SIGSTOP. */
function sleepAllThreads(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms)
}

/** Resolves once the event loop has gone round often enough for anything written to have arrived. */
async function settled(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await new Promise(resolve => setImmediate(resolve))
}

function httpAnswer(json: string): string {
  return `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${json.length}\r\n\r\n${json}`
}

async function rawServer(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket.on('error', () => {}))
    onConnection(socket)
  })
  return {
    origin: `http://127.0.0.1:${await listen(server)}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise(resolve => server.close(resolve))
    },
  }
}

async function listen(server: Server): Promise<number> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  return (server.address() as { port: number }).port
}

async function closedPort(): Promise<number> {
  const server = createServer()
  const port = await listen(server)
  await new Promise(resolve => server.close(resolve))
  return port
}
