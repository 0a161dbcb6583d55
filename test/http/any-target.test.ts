import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { BOTH_TOKENS, OPERATE_TOKEN, openConsoleHarness } from './console/console-harness.ts'
import { openTestHttp } from './http-harness.ts'

/** Sends the bytes of a request as they are, and returns the status of the answer; 0 if the connection was closed without one. */
async function statusOf(address: string, request: string): Promise<number> {
  const { hostname, port } = new URL(address)
  const socket = connect(Number(port), hostname)
  socket.end(request, 'latin1')
  return Number(/^HTTP\/1\.1 (\d{3}) /.exec(await text(socket))?.[1] ?? 0)
}

const AUTHORIZATION = `Authorization: Bearer ${OPERATE_TOKEN}\r\n`

function requestOf(method: string, target: string, headers = 'Host: localhost\r\n'): string {
  return `${method} ${target} HTTP/1.1\r\n${headers}Connection: close\r\n\r\n`
}

const TARGETS = [
  '//',
  '///',
  '//evil.example',
  '//evil.example/imports',
  '//?zone=UTC',
  '//#',
  '/%2f',
  '/%2F%2fevil.example',
  '/..',
  '/../..//',
  '/\\',
  '\\',
  '/\\\\evil.example',
  '*',
  '?',
  '/?',
  '//[',
  '//[::1',
  '//a:b@c:99999',
  '/:',
  '/%',
  '/%00',
  '/imports//1',
  '//imports/1',
  '//sign-in?to=//evil.example',
  '/sign-in?to=//',
  'http://localhost',
  'http://localhost//',
  'http://localhost/imports',
  'http://localhost:1?status=',
  'http://',
  'http:///',
  'http://[',
  'http:/imports',
  'evil.example:443',
]

test.each(TARGETS)('%j is answered, with or without a token, and nothing fails', async target => {
  await using http = await openTestHttp({ console: BOTH_TOKENS })
  for (const html of ['', 'Accept: text/html\r\n']) {
    for (const method of ['GET', 'HEAD', 'POST', 'OPTIONS']) {
      const status = await statusOf(http.address, requestOf(method, target, `Host: localhost\r\n${html}`))
      expect([303, 400, 401, 403, 404, 405, 421], `${method} ${target}`).toContain(status)
    }
  }
})

const PIECES = [
  ...[
    '/',
    '//',
    '\\',
    '.',
    '..',
    '%2f',
    '%2e',
    '%00',
    '%',
    '%zz',
    '%ff',
    '?',
    '#',
    '&',
    '=',
    ':',
    '@',
    ';',
    '*',
  ],
  ...[
    '[',
    ']',
    '|',
    '"',
    '<',
    '\x80',
    '\xe9',
    '\x7f',
    'imports',
    '1',
    '0',
    'changes',
    'ledger',
    'sign-in',
    'code',
    'to',
  ],
  ...[
    'after',
    'zone',
    'livez',
    'readyz',
    'metrics',
    'freshness',
    'assets',
    'http://',
    'http://localhost',
    'evil.example',
  ],
]
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'OPTIONS', 'TRACE', 'CONNECT', 'BREW', 'get', 'PRI']
const HEADERS = [
  ...['Host: localhost\r\n', 'Host:\r\n', 'Host: 127.0.0.1:1\r\n', 'Host: [::1]\r\n', 'Host: [\r\n', ''],
  ...[
    'Accept: text/html\r\n',
    AUTHORIZATION,
    'Content-Length: 0\r\n',
    'Content-Length: -1\r\n',
    'Expect: 100-continue\r\n',
  ],
  ...[
    'Content-Type: application/x-www-form-urlencoded\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Upgrade: x\r\n',
    'Cookie: =;;\r\n',
  ],
]

test('whatever the target, the method and the headers are, no answer is 500 and the next request is answered', async () => {
  await using harness = await openConsoleHarness({ tokens: BOTH_TOKENS })
  const target = fc
    .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
    .map(pieces => pieces.join(''))
  const headers = fc.subarray(HEADERS).map(lines => lines.join(''))
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...METHODS), target, headers, async (method, path, lines) => {
      const status = await statusOf(harness.http.address, requestOf(method, path, lines))
      expect(status).not.toBe(500)
    }),
    {
      numRuns: 1_500,
      examples: TARGETS.map(path => ['GET', path, `${HEADERS[0]}Accept: text/html\r\n${AUTHORIZATION}`]),
    },
  )
  expect((await harness.page('/', OPERATE_TOKEN)).status).toBe(200)
})
