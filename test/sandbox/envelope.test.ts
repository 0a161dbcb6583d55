import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import type { Operation } from '#src/model/call.ts'
import { OPERATIONS } from '#src/platform/operations.ts'
import { ask, call, openSmallSandbox, type RequestOptions } from './sandbox-harness.ts'

const LIST = OPERATIONS['list-alert-rules'].path

test.for(Object.keys(OPERATIONS) as Operation[])(
  'every answer to %s bears its request_id in body and header',
  async operation => {
    await using sandbox = await openSmallSandbox()
    const first = await call(sandbox, operation)
    const second = await call(sandbox, operation)
    expect(first.body.request_id).toMatch(/^[0-9a-f]{32}$/)
    expect(first.headers.get('service-request-id')).toBe(first.body.request_id)
    expect(second.body.request_id).not.toBe(first.body.request_id)
  },
)

test('a request without a host is answered in the envelope', async () => {
  await using sandbox = await openSmallSandbox()
  const { port } = new URL(sandbox.baseUrl)
  const socket = connect(Number(port), '127.0.0.1')
  socket.end(
    `POST ${LIST} HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}`,
  )
  let heard = ''
  socket.setEncoding('utf8').on('data', text => {
    heard += text
  })
  await once(socket, 'close')
  expect(heard).toMatch(/^HTTP\/1\.1 401 /)
  expect(heard).toMatch(/service-request-id: [0-9a-f]{32}/i)
})

const refused: readonly (readonly [string, number, string, string, RequestOptions])[] = [
  ['an unknown path', 404, 'RouteNotFound', '/monit/rule/info', {}],
  ['a path with a slash too many', 404, 'RouteNotFound', `${LIST}/`, {}],
  ['a path with an escape that is none', 404, 'RouteNotFound', `${LIST}/%zz`, {}],
  ['another HTTP method', 405, 'MethodNotAllowed', LIST, { method: 'GET' }],
  ['another HTTP method with a body', 405, 'MethodNotAllowed', LIST, { method: 'PUT' }],
  ['no content type', 400, 'InvalidContentType', LIST, { contentType: null }],
  ['another content type', 400, 'InvalidContentType', LIST, { contentType: 'text/plain' }],
  ['a content type that is none', 400, 'InvalidContentType', LIST, { contentType: 'json' }],
  ['no key', 401, 'Unauthorized', LIST, { key: null }],
  ['an empty key', 401, 'Unauthorized', LIST, { key: '' }],
  ['an unknown key', 401, 'Unauthorized', LIST, { key: 'nobody' }],
  ['a body that is no JSON', 400, 'BadRequest', LIST, { text: '{"folder_id":' }],
  ['an empty body', 400, 'BadRequest', LIST, { text: '' }],
  ['a body that is no object', 400, 'InvalidParameter', LIST, { text: '[]' }],
]

test.for(refused)('%s is answered %i %s in the envelope', async ([, status, code, path, asked]) => {
  await using sandbox = await openSmallSandbox()
  const heard = await ask(sandbox, path, asked)
  expect(heard.status).toBe(status)
  expect(heard.body).toEqual({
    request_id: heard.headers.get('service-request-id'),
    error: { code, message: expect.any(String) },
  })
  expect(sandbox.state.received).toMatchObject([{ status, code, requestId: heard.body.request_id }])
})

test('path, method, content type, key, permission and body are checked in this order', async () => {
  await using sandbox = await openSmallSandbox({ maxBodyBytes: 10 })
  sandbox.state.addKey({ key: 'idle', permissions: [] })
  const wrong = { key: 'nobody', method: 'GET', contentType: null, text: 'this is no JSON' } as const
  const codes = [
    await ask(sandbox, '/nowhere', wrong),
    await ask(sandbox, LIST, wrong),
    await ask(sandbox, LIST, { ...wrong, method: 'POST' }),
    await ask(sandbox, LIST, { ...wrong, method: 'POST', contentType: 'application/json' }),
    await ask(sandbox, LIST, { key: 'idle', text: 'this is no JSON' }),
    await ask(sandbox, LIST, { text: 'this is no JSON' }),
    await ask(sandbox, LIST, { text: 'no JSON' }),
  ].map(heard => heard.body.error.code)
  expect(codes).toEqual([
    'RouteNotFound',
    'MethodNotAllowed',
    'InvalidContentType',
    'Unauthorized',
    'AccessDenied',
    'EntityTooLarge',
    'BadRequest',
  ])
})

test('a content type with a charset is JSON too', async () => {
  await using sandbox = await openSmallSandbox()
  expect(await ask(sandbox, LIST, { contentType: 'application/json; charset=utf-8' })).toMatchObject({
    status: 200,
  })
})

test('an expired key is refused, and one not yet expired is not', async () => {
  await using sandbox = await openSmallSandbox()
  sandbox.state.addKey({ key: 'old', expiresAt: new Date(Date.now() - 1) })
  sandbox.state.addKey({ key: 'new', expiresAt: new Date(Date.now() + 60_000) })
  expect(await call(sandbox, 'list-mcp-servers', {}, { key: 'old' })).toMatchObject({ status: 401 })
  expect(await call(sandbox, 'list-mcp-servers', {}, { key: 'new' })).toMatchObject({ status: 200 })
})

test('each operation asks for its own permission, and the MCP list for none', async () => {
  await using sandbox = await openSmallSandbox({ limits: false })
  const answered = async (key: string) => [
    (await call(sandbox, 'list-alert-rules', {}, { key })).status,
    (await call(sandbox, 'import-subscribers', {}, { key })).status,
    (await call(sandbox, 'list-mcp-servers', {}, { key })).status,
  ]
  sandbox.state.addKey({ key: 'watcher', permissions: ['monit'] })
  sandbox.state.addKey({ key: 'on-call', permissions: ['on-call'] })
  sandbox.state.addKey({ key: 'idle', permissions: [] })
  // 400: allowed, and found to be an empty import.
  expect(await answered('watcher')).toEqual([200, 403, 200])
  expect(await answered('on-call')).toEqual([403, 400, 200])
  expect(await answered('idle')).toEqual([403, 403, 200])
})

test('what is not even HTTP is answered in the envelope', async () => {
  await using sandbox = await openSmallSandbox()
  const socket = connect(Number(new URL(sandbox.baseUrl).port), '127.0.0.1')
  socket.end('good day\r\n\r\n')
  let text = ''
  socket.on('data', data => {
    text += data
  })
  await once(socket, 'close')
  const [head, body] = text.split('\r\n\r\n')
  expect(head).toContain(`Service-Request-Id: ${JSON.parse(body as string).request_id}`)
  expect(JSON.parse(body as string).error.code).toBe('BadRequest')
})
