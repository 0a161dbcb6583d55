import { gzipSync } from 'node:zlib'
import { expect, test, vi } from 'vitest'
import type { Refusal } from '#src/platform/refusal.ts'
import { collectRows, listRules } from '#test/support/collect-rows.ts'
import { importOnce } from '#test/support/import-once.ts'
import { createThrottle } from '../support/create-throttle.ts'
import { batch, context, page } from '../support/platform-calls.ts'
import {
  answerJson,
  CANARY,
  failure,
  openScriptedPlatform,
  type Script,
  success,
} from '../support/scripted-platform.ts'
import { waitFor } from '../support/wait-for.ts'
import { alertRuleWire } from '../support/wire.ts'

/** One attempt, so that what came of it is not hidden by another. */
async function refusalOf(platform: Parameters<typeof importOnce>[0]): Promise<Refusal> {
  const answer = await importOnce(platform, batch, context)
  if (answer.ok) throw new Error('the platform accepted it')
  return answer.refusal
}

test('a call is a POST of exact JSON with the key in the address and nowhere else', async () => {
  await using platform = await openScriptedPlatform((_request, response) => answerJson(response, success([])))
  const answer = await listRules(platform.client, context, { folder: 2n ** 64n - 1n })

  expect(answer).toMatchObject({ ok: true, requestId: 'req-1', requests: 1 })
  const [{ url, headers, body }] = platform.received as [(typeof platform.received)[0]]
  expect(url).toBe(`/monit/rule/list/basic?app_key=${encodeURIComponent(CANARY)}`)
  expect(body).toBe('{"folder_id":18446744073709551615}')
  expect(headers).toMatchObject({
    'content-type': 'application/json',
    'content-length': String(body.length),
    'accept-encoding': 'gzip',
  })
  expect(JSON.stringify(headers) + body).not.toContain('canary')
})

test('a listing that brings its own throttle acquires its permit there, and tells it the end', async () => {
  await using platform = await openScriptedPlatform((_request, response) => answerJson(response, success([])))
  const throttle = createThrottle()
  const answer = await listRules(platform.client, { ...context, throttle })
  expect(answer).toMatchObject({ ok: true })
  expect(throttle.calls).toMatchObject([
    { state: 'finished', end: { answeredAtMs: expect.any(Number), httpStatus: 200 } },
  ])
  expect(platform.throttle.calls).toEqual([])
})

test('each operation sends the fields of its body', async () => {
  await using platform = await openScriptedPlatform((request, response) =>
    answerJson(response, success(request.url.includes('mcp') ? { total: 0, servers: [] } : null)),
  )
  await platform.client.listMcpPage({ page: 3, limit: 50, includeAccount: false }, context)
  const some = { recipient: 'b@example.com', all: false as const, component_ids: ['c1'], locale: 'de-DE' }
  const imported = await importOnce(
    platform,
    { ...batch, subscribers: [...batch.subscribers, some] },
    context,
  )
  expect(imported).toEqual({ ok: true, data: null, requestId: 'req-1', requests: 1 })
  expect(platform.received.map(({ url, body }) => [url.split('?')[0], body])).toEqual([
    ['/safari/mcp/server/list', '{"p":3,"limit":50,"include_account":false}'],
    [
      '/status-page/subscriber/import',
      '{"page_id":18446744073709551615,"method":"email","subscribers":[' +
        '{"recipient":"ada@example.com","all":true,"locale":"en-US"},' +
        '{"recipient":"b@example.com","all":false,"component_ids":["c1"],"locale":"de-DE"}]}',
    ],
  ])
})

test('a subscriber may have as many components as a page has', async () => {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, success(null)),
  )
  const component_ids = Array.from({ length: 1_000 }, (_, n) => `c${n}`)
  const subscriber = { recipient: 'b@example.com', all: false as const, component_ids, locale: 'de-DE' }
  expect(await importOnce(platform, { ...batch, subscribers: [subscriber] }, context)).toMatchObject({
    ok: true,
  })
  expect(JSON.parse(platform.received[0]?.body ?? '').subscribers).toEqual([subscriber])
})

test('a key that is refused is named by its account and by where it is set', async () => {
  await using platform = await openScriptedPlatform(
    (_request, response) => answerJson(response, failure('Unauthorized'), 401),
    { account: 'team-c', keySetting: 'TEAMC_KEY' },
  )
  const answer = await listRules(platform.client, context)
  expect(!answer.ok && answer.refusal.whatToDo).toContain('the app_key of account team-c (TEAMC_KEY)')
})

test('the base address may have a path', async () => {
  await using server = await openScriptedPlatform((_request, response) => answerJson(response, success([])))
  await using platform = await openScriptedPlatform(() => {}, { baseUrl: `${server.origin}/some/api/` })
  expect(await listRules(platform.client, context)).toMatchObject({ ok: true })
  expect(server.received[0]?.url).toMatch(/^\/some\/api\/monit\/rule\/list\/basic\?/)
})

test('rules come with ids exact to the last digit, packed or not', async () => {
  const text = JSON.stringify(success([alertRuleWire({ id: 'ID' })])).replace('"ID"', '18446744073709551615')
  // A body may be packed in several pieces, one after the other.
  const pieces = [text.slice(0, 10), text.slice(10)].map(piece => gzipSync(piece))
  await using platform = await openScriptedPlatform((_request, response, n) => {
    if (n === 1) return answerJson(response, text)
    response.writeHead(200, { 'content-type': 'application/json; charset=utf-8', 'content-encoding': 'gzip' })
    response.end(Buffer.concat(pieces))
  })
  for (const _ of pieces) {
    const taken = collectRows()
    expect(await listRules(platform.client, context, { taken })).toMatchObject({ ok: true })
    expect(taken.good[0]?.row.id).toBe(2n ** 64n - 1n)
  }
})

test('a row whose text is known is not parsed', async () => {
  const rules = [alertRuleWire({ id: 1, name: 'a\0b' }), alertRuleWire({ id: 2 })]
  await using platform = await openScriptedPlatform((_request, response, n) =>
    answerJson(response, { request_id: `req-${n}`, data: n < 3 ? rules : rules.toReversed() }),
  )
  const taken = collectRows()
  const first = await listRules(platform.client, context, { taken })
  expect(first).toMatchObject({
    ok: true,
    data: { rows: 2, dataHash: expect.stringMatching(/^[0-9a-f]{64}$/) },
  })

  const known = collectRows(new Set(taken.good.map(({ digest }) => digest)))
  const parse = vi.spyOn(JSON, 'parse')
  const second = await listRules(platform.client, context, { taken: known })
  const parsed = parse.mock.calls.map(([text]) => text)
  parse.mockRestore()
  expect(parsed.filter(text => text.includes('High load'))).toEqual([])
  expect(known).toMatchObject({ known: 2, good: [], quarantined: [] })
  const dataHash = first.ok ? first.data.dataHash : ''
  expect(second).toMatchObject({ ok: true, requestId: 'req-2', data: { rows: 2, dataHash } })
  const third = await listRules(platform.client, context)
  expect(third.ok && third.data.dataHash).not.toBe(dataHash)
})

test('every call is a permit of the throttle, finished with what came of it', async () => {
  await using platform = await openScriptedPlatform((_request, response, n) =>
    n === 1
      ? answerJson(response, failure('ServiceUnavailable'), 503, { 'retry-after': '1' })
      : answerJson(response, success({ total: 0, servers: [] })),
  )
  const answer = await platform.client.listMcpPage(page, context)
  expect(answer).toMatchObject({ ok: true, requests: 2 })
  expect(platform.throttle.calls).toMatchObject([
    {
      permit: { call: { account: 'default', operation: 'list-mcp-servers', runId: 7n } },
      end: { httpStatus: 503, errorCode: 'ServiceUnavailable', requestId: 'req-2', retryAfterMs: 1_000 },
    },
    { end: { httpStatus: 200, errorCode: null, requestId: 'req-1', retryAfterMs: null } },
  ])
})

const envelopes: [code: string, status: number, kind: string, retryable: boolean, certain: boolean][] = [
  ['InvalidParameter', 400, 'invalid-request', false, true],
  ['BadRequest', 400, 'invalid-request', false, true],
  ['InvalidContentType', 400, 'content-type', false, true],
  ['ResourceNotFound', 400, 'invalid-request', false, true],
  ['NoLicense', 400, 'no-license', false, true],
  ['ReferenceExist', 400, 'invalid-request', false, true],
  ['Unauthorized', 401, 'unauthorized', false, true],
  ['BalanceNotEnough', 402, 'balance', false, true],
  ['AccessDenied', 403, 'access-denied', false, true],
  ['RouteNotFound', 404, 'no-route', false, true],
  ['MethodNotAllowed', 405, 'no-route', false, true],
  ['UndonedOrderExist', 409, 'order', true, true],
  ['EntityTooLarge', 413, 'too-large', false, true],
  ['RequestLocked', 423, 'locked', true, true],
  ['RequestVerifyRequired', 428, 'verify', false, true],
  ['DangerousOperation', 428, 'verify', false, true],
  ['RequestTooFrequently', 429, 'too-frequent', true, true],
  ['InternalError', 500, 'server-error', true, false],
  ['ServiceUnavailable', 503, 'unavailable', true, true],
  // The code decides, whatever the status, but with another than its own nothing is certain.
  ['Unauthorized', 200, 'unauthorized', false, false],
  ['InternalError', 200, 'server-error', true, false],
  ['NoLicense', 500, 'no-license', false, false],
  ['ServiceUnavailable', 504, 'unavailable', true, false],
  // A code the contract does not know falls back to the status.
  ['Novel', 400, 'invalid-request', false, false],
  ['Novel', 401, 'unauthorized', false, false],
  ['Novel', 429, 'too-frequent', true, true],
  // A 429 is one whatever the code: whoever gave it did nothing but count.
  ['InternalError', 429, 'too-frequent', true, true],
  ['InvalidParameter', 429, 'too-frequent', true, true],
  ['Novel', 418, 'invalid-request', false, false],
  ['Novel', 503, 'unavailable', true, false],
  ['Novel', 507, 'server-error', true, false],
  ['Novel', 200, 'contract-violation', true, false],
  ['constructor', 502, 'server-error', true, false],
  ['OK', 500, 'server-error', true, false],
]
test.each(envelopes)('%s with HTTP %i is %s', async (code, status, kind, retryable, certain) => {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, failure(code, 'folder 5 is gone'), status),
  )
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind, code, httpStatus: status, requestId: 'req-2', retryable, certain })
  expect(refusal.message).toBe(`The platform answered ${code} (HTTP ${status}): folder 5 is gone.`)
  expect(refusal.whatToDo).toMatch(/^[A-Z].*\.$/)
})

const plain = (status: number, type: string, body: string) => (response: Parameters<Script>[1]) => {
  response.writeHead(status, { 'content-type': type, 'service-request-id': 'req-3' })
  response.end(body)
}
const json = 'application/json'
const withoutEnvelope: [what: string, kind: string, certain: boolean, ReturnType<typeof plain>][] = [
  ['a page with 200', 'no-envelope', false, plain(200, 'text/html', '<html>')],
  ['a page with 502', 'no-envelope', false, plain(502, 'text/html', '<html>')],
  ['a page with 503', 'no-envelope', false, plain(503, 'text/html', '<html>')],
  ['a page with 401', 'no-envelope', false, plain(401, 'text/html', '<html>')],
  ['a page with 413', 'too-large', false, plain(413, 'text/html', '<html>')],
  ['a page with 429', 'too-frequent', true, plain(429, 'text/html', '<html>')],
  ['a page with 407', 'proxy-auth', false, plain(407, 'text/html', '<html>')],
  ['a page called JSON', 'no-envelope', false, plain(200, json, '<html>')],
  ['nothing', 'no-envelope', false, plain(200, json, '')],
  ['half an envelope', 'no-envelope', false, plain(200, json, '{"request_id":"a","da')],
  ['JSON of a gateway', 'no-envelope', false, plain(404, json, '{"message":"no Route matched"}')],
  [
    'JSON of a gateway with 429',
    'too-frequent',
    true,
    plain(429, json, '{"message":"API rate limit exceeded"}'),
  ],
  ['JSON of a gateway with 503', 'no-envelope', false, plain(503, json, '{"message":"no Route matched"}')],
  ['a success without data', 'contract-violation', false, plain(200, json, '{"request_id":"a"}')],
  ['a bare array', 'contract-violation', false, plain(200, json, '[]')],
  ['null', 'contract-violation', false, plain(200, json, 'null')],
]
test.each(withoutEnvelope)('%s is %s', async (_what, kind, certain, answer) => {
  await using platform = await openScriptedPlatform((_request, response) => answer(response))
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind, certain })
  expect(refusal.requestId).toMatch(/^(req-3|a)$/)
})

test('a 429 of which only the beginning arrived is certain all the same', async () => {
  await using platform = await openScriptedPlatform((_request, response) => {
    response.writeHead(429, { 'content-type': json, 'content-length': 100 })
    response.write('{"request_id"', () => response.destroy())
  })
  const refusal = await refusalOf(platform)
  expect(refusal).toMatchObject({ kind: 'too-frequent', code: 'NoAnswer', httpStatus: 429, certain: true })
})

test('a success has a request_id in the body, whatever the headers have, and no code or the code OK', async () => {
  await using platform = await openScriptedPlatform((_request, response, n) => {
    if (n === 1) return plain(200, json, '{"data":{}}')(response)
    if (n === 2) return plain(200, json, '{"request_id":"b","error":{"code":"OK"},"data":null}')(response)
    answerJson(response, { data: {} })
  })
  const answers = []
  for (let n = 1; n <= 3; n += 1) answers.push(await importOnce(platform, batch, context))
  expect(answers).toMatchObject([
    { ok: false, refusal: { kind: 'contract-violation', requestId: 'req-3' } },
    { ok: true, requestId: 'b' },
    { ok: false, refusal: { kind: 'contract-violation', requestId: null } },
  ])
})

test('the key appears in no refusal and no log, even if the platform repeats it', async () => {
  const echo = `bad key ${CANARY} (${encodeURIComponent(CANARY)})`
  await using platform = await openScriptedPlatform((request, response, n) => {
    if (n === 1)
      answerJson(response, { request_id: CANARY, error: { code: CANARY, message: echo + request.url } }, 500)
    else if (n === 2) plain(500, `text/html; ${CANARY}`, echo)(response)
    else response.destroy()
  })
  const answer = await listRules(platform.client, context)
  const said = JSON.stringify(answer, (_key, value) => (typeof value === 'bigint' ? `${value}` : value))
  const kept = JSON.stringify(platform.throttle.calls.map(({ end }) => end))
  expect(answer).toMatchObject({ ok: false, requests: 3, refusal: { kind: 'no-answer' } })
  expect(platform.logs.length).toBeGreaterThan(0)
  expect(said + kept + platform.logs.join()).not.toMatch(/canary/i)
})

test('fifty calls are under way at once', async () => {
  const waiting: (() => void)[] = []
  await using platform = await openScriptedPlatform((_request, response) => {
    waiting.push(() => answerJson(response, success({ total: 0, servers: [] })))
  })
  const calls = Array.from({ length: 50 }, () => platform.client.listMcpPage(page, context))
  await waitFor(() => waiting.length === 50, { what: 'fifty requests' })
  for (const answer of waiting) answer()
  expect((await Promise.all(calls)).every(({ ok }) => ok)).toBe(true)
})
