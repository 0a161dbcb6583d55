import { expect, test } from 'vitest'
import type { Exchange } from '#src/sandbox/options.ts'
import { Payload } from '#src/sandbox/payload.ts'
import { alertRuleWire } from '../wire.ts'
import { answerProblems, requestProblems } from './check.ts'

const RULES = '/monit/rule/list/basic'
const IMPORT = '/status-page/subscriber/import'
const SERVERS = '/safari/mcp/server/list'

function exchange(
  path: string,
  request: unknown,
  status: number,
  body: unknown,
  more: Partial<Exchange> = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  return {
    method: 'POST',
    url: `${path}?app_key=k`,
    headers: { 'content-type': 'application/json' },
    text: JSON.stringify(request),
    answer: {
      status,
      code: null,
      headers: { 'Content-Type': 'application/json', 'Service-Request-Id': 'r' },
      body: [new Payload(text)],
    },
    isFault: false,
    ...more,
  } satisfies Exchange
}

const person = { recipient: 'a@example.com', all: true, locale: 'en-US' }
const page = { p: 1, limit: 100, include_account: true }
const of = (...subscribers: object[]) => ({ page_id: 1, method: 'email', subscribers })
const ok = (data: unknown) => ({ request_id: 'r', data })
const no = (code: string) => ({ request_id: 'r', error: { code, message: 'No.' } })

test('what the contract shows has no problem', () => {
  for (const one of [
    exchange(RULES, { folder_id: 0 }, 200, ok([alertRuleWire()])),
    exchange(RULES, {}, 401, no('Unauthorized')),
    exchange(IMPORT, of(person, { ...person, all: false, component_ids: ['c'] }), 200, ok({})),
    exchange(SERVERS, page, 200, ok({ total: 1, servers: [{ server_id: 's', tools: [] }] })),
  ]) {
    expect([...requestProblems(one), ...answerProblems(one)]).toEqual([])
  }
})

test.for([
  ['a field nobody named', RULES, { folder_id: 0, all: true }],
  ['a number as text', RULES, { folder_id: '0' }],
  ['a page 0', SERVERS, { ...page, p: 0 }],
  ['a page without a size', SERVERS, { p: 1, include_account: true }],
  ['no components for a person who does not want all', IMPORT, of({ ...person, all: false })],
  ['components for a person who wants all', IMPORT, of({ ...person, component_ids: ['c'] })],
  ['a language without a region', IMPORT, of({ ...person, locale: 'en' })],
  ['what is no address', IMPORT, of({ ...person, recipient: 'nobody' })],
] as const)('a request with %s is noticed', ([, path, request]) => {
  expect(requestProblems(exchange(path, request, 200, ok({})))).not.toEqual([])
})

test.for([
  ['with the key twice', { url: `${RULES}?app_key=k&app_key=l` }],
  ['without a key', { url: RULES }],
  ['with more in the address', { url: `${RULES}?app_key=k&x=1` }],
  ['by GET', { method: 'GET' }],
  ['that is not called JSON', { headers: { 'content-type': 'text/plain' } }],
  ['to another path', { url: '/x?app_key=k' }],
  ['that is not JSON', { text: '{' }],
] as const)('a request %s is noticed', ([, more]) => {
  expect(requestProblems(exchange(RULES, {}, 200, ok([]), more))).not.toEqual([])
})

test.for([
  ['a rule without a name', RULES, 200, ok([alertRuleWire({ name: undefined })])],
  ['a rule with more', RULES, 200, ok([alertRuleWire({ env: {} })])],
  ['an id beyond 64 bits', RULES, 200, ok([alertRuleWire({ id: 2 ** 65 })])],
  ['data that is no list', RULES, 200, ok({})],
  ['data where none belongs', IMPORT, 200, ok({ taken: 1 })],
  ['servers without a total', SERVERS, 200, ok({ servers: [] })],
  ['a code of its own', RULES, 400, no('Novel')],
  ['a code with another status', RULES, 500, no('Unauthorized')],
  ['a failure with data', RULES, 400, { ...no('BadRequest'), data: null }],
  ['a success that is not 200', IMPORT, 201, ok({})],
  ['no request_id', IMPORT, 200, { data: {} }],
  ['another request_id than the header', IMPORT, 200, { request_id: 'other', data: {} }],
  ['half of it', IMPORT, 200, '{"request_id":"r","da'],
] as const)('an answer with %s is noticed', ([, path, status, body]) => {
  expect(answerProblems(exchange(path, {}, status, body))).not.toEqual([])
})

test('a call that got no answer breaks nothing', () => {
  expect(answerProblems({ ...exchange(RULES, {}, 200, ''), answer: null })).toEqual([])
})
