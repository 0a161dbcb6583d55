import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, connect, type Server } from 'node:net'
import type { Duplex } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { Secret } from '#src/model/secret.ts'
import type { Refusal } from '#src/platform/refusal.ts'
import { listRules } from '#test/support/collect-rows.ts'
import { importOnce, SMALL_BATCH } from '#test/support/import-once.ts'
import { answerJson, CANARY, openScriptedPlatform, success } from '../support/scripted-platform.ts'

const context = { runId: null, signal: new AbortController().signal }
const CA = fileURLToPath(new URL('../support/certificates/ca.pem', import.meta.url))
const tls = {
  key: readFileSync(new URL('../support/certificates/server.key', import.meta.url)),
  cert: readFileSync(new URL('../support/certificates/server.pem', import.meta.url)),
}

/** A server on a free port of this machine. */
async function listening(server: Server) {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const close = async () => {
    if ('closeAllConnections' in server) (server as { closeAllConnections(): void }).closeAllConnections()
    await new Promise(resolve => server.close(resolve))
  }
  return { server, host: `127.0.0.1:${port}`, [Symbol.asyncDispose]: close }
}

/** An https platform that says yes, with the certificate of a private CA. */
const privatePlatform = () =>
  listening(createHttpsServer(tls, (_request, response) => answerJson(response, success([]))))

/** A proxy that answers every request and every CONNECT with this status; 200 tunnels. */
async function openProxy(status: number) {
  const refuse: RequestListener = (_request, response) => response.writeHead(status).end('not you')
  const server = createHttpServer(refuse)
  server.on('connect', ({ url = '' }: { url?: string }, socket: Duplex) => {
    socket.on('error', () => {})
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`)
    const [host = '', port = ''] = url.split(':')
    const upstream = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n')
      upstream.pipe(socket).pipe(upstream)
    })
    upstream.on('error', () => socket.destroy())
  })
  return listening(server)
}

async function closedPort(): Promise<string> {
  await using server = await listening(createHttpServer())
  return server.host
}

async function refusalOf(platform: Parameters<typeof importOnce>[0]): Promise<Refusal> {
  const answer = await importOnce(platform, SMALL_BATCH, context)
  if (answer.ok) throw new Error('the platform accepted it')
  return answer.refusal
}

test('what cannot be reached is named with host, port and the setting it came from', async () => {
  const host = await closedPort()
  await using platform = await openScriptedPlatform(() => {}, { baseUrl: `http://${host}/api` })
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind: 'not-sent', certain: true, retryable: true })
  expect(refusal.message).toBe(
    `The platform could not be reached: the connection was refused (ECONNREFUSED) at ${host} (FERRY_BASE_URL).`,
  )
})

test('a host without a port in its address is named with the one of its scheme', async () => {
  await using platform = await openScriptedPlatform(() => {}, {
    baseUrl: 'https://no-such-host.invalid',
    baseUrlSetting: 'baseUrl of account eu in FERRY_ACCOUNTS_FILE',
  })
  expect((await refusalOf(platform)).message).toContain(
    'at no-such-host.invalid:443 (baseUrl of account eu in FERRY_ACCOUNTS_FILE)',
  )
})

test('a call whose answer is lost or late is named with where it went', async () => {
  await using platform = await openScriptedPlatform(
    (_request, response, n) => n === 1 && response.destroy(),
    {
      requestTimeoutMs: 200,
    },
  )
  const host = platform.origin.slice('http://'.length)
  expect((await refusalOf(platform)).message).toContain(`at ${host} (FERRY_BASE_URL)`)
  expect((await refusalOf(platform)).message).toBe(
    `The call got no complete answer: it took longer than 200 ms (FERRY_REQUEST_TIMEOUT) at ${host} (FERRY_BASE_URL).`,
  )
})

for (const scheme of ['http', 'https'] as const) {
  const setting = scheme === 'http' ? 'HTTP_PROXY' : 'HTTPS_PROXY'
  const through = (host: string) => ({
    baseUrl: `${scheme}://platform.invalid`,
    proxy: { http: null, https: null, except: null, [scheme]: `http://ada:hunter2@${host}` },
  })

  test(`a proxy that wants credentials for ${scheme} is named, and not asked again`, async () => {
    await using proxy = await openProxy(407)
    await using platform = await openScriptedPlatform(() => {}, through(proxy.host))
    const answer = await listRules(platform.client, context)
    expect(answer).toMatchObject({
      ok: false,
      refusal: { kind: 'proxy-auth', code: 'ProxyAuthenticationRequired', retryable: false },
    })
    const { message, whatToDo } = (answer as { refusal: Refusal }).refusal
    const port = scheme === 'http' ? 80 : 443
    expect(message).toBe(
      'The platform could not be reached: the proxy requires a user and a password, or refuses the ones it got (HTTP 407) ' +
        `at platform.invalid:${port} (FERRY_BASE_URL), through the proxy ${proxy.host} (${setting}).`,
    )
    expect(whatToDo).toContain('http://user:password@')
    expect(JSON.stringify(platform.logs) + message).not.toMatch(/hunter2|canary/)
    // A tunnel was refused before the request. Without one the request was sent, and what lies behind the proxy may have it.
    const isSent = scheme === 'http'
    expect((answer as { refusal: Refusal }).refusal.certain).toBe(!isSent)
    expect(platform.throttle.calls).toMatchObject([
      isSent ? { state: 'finished', end: { answeredAtMs: null } } : { state: 'returned' },
    ])
  })

  test(`a proxy for ${scheme} that is not there is named with its setting`, async () => {
    const host = await closedPort()
    await using platform = await openScriptedPlatform(() => {}, through(host))
    expect((await refusalOf(platform)).message).toMatch(
      new RegExp(`ECONNREFUSED.*through the proxy ${host} \\(${setting}\\)\\.$`),
    )
  })
}

test('a proxy that builds no tunnel says so with its status', async () => {
  await using proxy = await openProxy(502)
  await using platform = await openScriptedPlatform(() => {}, {
    baseUrl: 'https://platform.invalid',
    proxy: { http: null, https: `http://${proxy.host}`, except: null },
  })
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind: 'not-sent', retryable: true, certain: true })
  expect(refusal.message).toContain('the proxy did not connect (HTTP 502)')
})

test('hosts of NO_PROXY are reached without the proxy, and no proxy is named for them', async () => {
  const host = await closedPort()
  const proxy = await closedPort()
  const port = host.split(':')[1]
  for (const except of ['127.0.0.1', `127.0.0.1:${port}`, '*', 'a.example, 127.0.0.1 b.example', '.0.0.1']) {
    await using platform = await openScriptedPlatform(() => {}, {
      baseUrl: `http://${host}`,
      proxy: { http: `http://${proxy}`, https: null, except },
    })
    expect((await refusalOf(platform)).message, except).toMatch(/\(FERRY_BASE_URL\)\.$/)
  }
  for (const except of ['127.0.0.1:1', '0.0.1', '*.127.0.0.1', '27.0.0.1', '']) {
    await using platform = await openScriptedPlatform(() => {}, {
      baseUrl: `http://${host}`,
      proxy: { http: `http://${proxy}`, https: null, except },
    })
    const expected = except === '0.0.1' ? /BASE_URL\)\.$/ : /\(HTTP_PROXY\)\.$/
    expect((await refusalOf(platform)).message, except).toMatch(expected)
  }
})

test('a certificate that nobody here vouches for is called that, at once and with what to do', async () => {
  await using server = await privatePlatform()
  await using platform = await openScriptedPlatform(() => {}, { baseUrl: `https://${server.host}` })
  const answer = await listRules(platform.client, context)
  expect(answer).toMatchObject({
    ok: false,
    requests: 0,
    refusal: { kind: 'certificate', code: 'CertificateNotTrusted', retryable: false, certain: true },
  })
  const { message, whatToDo } = (answer as { refusal: Refusal }).refusal
  expect(message).toMatch(
    /the certificate is not trusted: it is signed by an authority that this machine does not trust \(UNABLE_TO_/,
  )
  expect(message).toContain(`at ${server.host} (FERRY_BASE_URL)`)
  expect(whatToDo).toContain('NODE_EXTRA_CA_CERTS')
})

test('NODE_EXTRA_CA_CERTS makes a private CA trusted', async () => {
  await using server = await privatePlatform()
  const script = `
    import { listRules } from '#test/support/collect-rows.ts'
    import { openScriptedPlatform } from '#test/support/scripted-platform.ts'
    const platform = await openScriptedPlatform(() => {}, { baseUrl: 'https://${server.host}' })
    const answer = await listRules(platform.client, { runId: null, signal: new AbortController().signal })
    console.log(answer.ok)
    await platform[Symbol.asyncDispose]()`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    cwd: fileURLToPath(new URL('../..', import.meta.url)),
    env: { PATH: process.env.PATH, NODE_EXTRA_CA_CERTS: CA },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const printed = child.stdout.setEncoding('utf8').toArray()
  await once(child, 'close')
  expect((await printed).join('').trim()).toBe('true')
})

test('https to a port that speaks plain http is named as such', async () => {
  await using plain = await openScriptedPlatform(() => {})
  const host = plain.origin.slice('http://'.length)
  await using platform = await openScriptedPlatform(() => {}, { baseUrl: `https://${host}` })
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind: 'not-sent', certain: true })
  expect(refusal.message).toContain(`this port does not speak TLS; it may be plain http`)
  expect(refusal.message).toContain(`at ${host} (FERRY_BASE_URL)`)
})

const redirects: [what: string, status: number, location: string | undefined, said: string][] = [
  ['to another host', 301, 'https://console.example.com/login', 'to console.example.com,'],
  ['with the key', 302, `https://h.example:8443/x?app_key=${CANARY}`, 'to h.example:8443,'],
  ['with the key in a host', 307, 'https://canary.example/', 'does not name an address'],
  ['to a path', 308, '/elsewhere', 'to 127.0.0.1:'],
  ['to nowhere', 302, undefined, 'does not name an address'],
  ['to what is no address', 302, 'http://[', 'does not name an address'],
  ['to what was done', 303, 'https://a.example/', 'to a.example,'],
  ['that is none', 304, undefined, 'does not name an address'],
]
test.each(redirects)(
  'a redirect %s is final and names the host only',
  async (_what, status, location, said) => {
    const key = location?.startsWith('https://canary') ? 'canary' : undefined
    await using platform = await openScriptedPlatform(
      (_request, response) => {
        response.writeHead(status, { 'content-type': 'text/html', ...(location && { location }) }).end()
      },
      key === undefined ? {} : { appKey: new Secret(key) },
    )
    const answer = await listRules(platform.client, context)
    expect(answer).toMatchObject({
      ok: false,
      requests: 1,
      refusal: {
        kind: 'redirected',
        code: 'Redirected',
        httpStatus: status,
        retryable: false,
        certain: false,
      },
    })
    const { message, whatToDo } = (answer as { refusal: Refusal }).refusal
    expect(message).toMatch(new RegExp(`^The call was redirected \\(HTTP ${status}\\)`))
    expect(message).toContain(said)
    expect(message).toContain('(FERRY_BASE_URL)')
    expect(`${message} ${whatToDo} ${platform.logs}`).not.toMatch(/canary|app_key=/)
    expect(platform.throttle.calls).toMatchObject([{ end: { answeredAtMs: null, httpStatus: status } }])
  },
)

test('the request_id is read from the body, else from any header whose name ends in request-id', async () => {
  const headers = [
    { 'flashcat-request-id': 'f-1' },
    { 'x-request-id': 'x-1', 'service-request-id': 's-1' },
    { 'request-id': 'r-1' },
    { 'x-request-identity': 'no' },
  ]
  await using platform = await openScriptedPlatform((_request, response, n) => {
    response.writeHead(200, { 'content-type': 'application/json', ...headers[n - 1] })
    response.end(n === 2 ? '{"data":{}}' : n === 3 ? '{"request_id":"body","data":{}}' : '{"data":{}}')
  })
  const ids = []
  for (const _ of headers) {
    const answer = await importOnce(platform, SMALL_BATCH, context)
    ids.push(answer.ok ? answer.requestId : answer.refusal.requestId)
  }
  expect(ids).toEqual(['f-1', 's-1', 'body', null])
})

test('an answer that breaks off keeps the request_id of its header', async () => {
  await using platform = await openScriptedPlatform((_request, response) => {
    response.writeHead(200, { 'content-length': 100, 'flashcat-request-id': 'f-2' })
    response.write('{"request_id":', () => response.destroy())
  })
  expect(await refusalOf(platform)).toMatchObject({ kind: 'no-answer', requestId: 'f-2' })
})
