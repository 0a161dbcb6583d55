import { expect, test } from 'vitest'
import { refusedByPlatform } from '#src/platform/refusal.ts'
import { retryListing } from '#src/platform/retry-listing.ts'
import { listRules } from '#test/support/collect-rows.ts'
import { importOnce } from '#test/support/import-once.ts'
import { batch, context, page } from '../support/platform-calls.ts'
import { answerJson, failure, openScriptedPlatform, success } from '../support/scripted-platform.ts'

test('data of another type breaks the contract: tried three times, then refused, naming the field', async () => {
  await using platform = await openScriptedPlatform((request, response) =>
    answerJson(response, success(request.url.includes('mcp') ? { total: '5', servers: [] } : {})),
  )
  const answers = await Promise.all([
    listRules(platform.client, context),
    platform.client.listMcpPage(page, context),
  ])
  expect(answers).toMatchObject([
    {
      ok: false,
      requests: 3,
      refusal: { kind: 'contract-violation', code: 'ContractViolation', requestId: 'req-1' },
    },
    { ok: false, requests: 3 },
  ])
  expect(answers.map(answer => !answer.ok && answer.refusal.message)).toEqual([
    'The answer breaks the contract: data must be an array.',
    'The answer breaks the contract: data.total must be an integer.',
  ])
})

test('a listing is tried three times, and no more', async () => {
  await using platform = await openScriptedPlatform((request, response, n) => {
    const isThird = n === 3
    if (request.url.includes('mcp')) answerJson(response, failure('InternalError'), 500)
    else answerJson(response, isThird ? success([]) : failure('InternalError'), isThird ? 200 : 500)
  })
  expect(await listRules(platform.client, context)).toMatchObject({
    ok: true,
    requests: 3,
  })
  expect(await platform.client.listMcpPage(page, context)).toMatchObject({
    ok: false,
    requests: 3,
    refusal: { kind: 'server-error', code: 'InternalError', requestId: 'req-2' },
  })
})

test('a listing that is refused for good is tried once', async () => {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, failure('Unauthorized'), 401),
  )
  expect(await listRules(platform.client, context)).toMatchObject({
    ok: false,
    requests: 1,
  })
})

test('a 429 costs no attempt: the throttle is told, and the next permit is asked for', async () => {
  await using platform = await openScriptedPlatform((_request, response, n) => {
    if (n <= 5) answerJson(response, failure('RequestTooFrequently'), 429, { 'retry-after': '2' })
    else if (n <= 7) answerJson(response, failure('InternalError'), 500)
    else answerJson(response, success([]))
  })
  expect(await listRules(platform.client, context)).toMatchObject({
    ok: true,
    requests: 8,
  })
  expect(platform.throttle.calls[0]?.end).toMatchObject({ httpStatus: 429, retryAfterMs: 2_000 })
})

test('what is tried again is said at debug: whoever asked says how it ended', async () => {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, failure('InternalError'), 500),
  )
  expect(await listRules(platform.client, context)).toMatchObject({
    ok: false,
    requests: 3,
  })
  const lines = platform.logs.map(line => JSON.parse(line))
  expect(lines.filter(({ level }) => level > 20)).toEqual([])
  expect(lines.filter(({ msg }) => msg.endsWith('Trying again.'))).toHaveLength(2)
})

test('that listings wait for a 429 is warned of, once a minute', async () => {
  await using platform = await openScriptedPlatform((_request, response, n) => {
    if (n % 3 === 0) answerJson(response, success([]))
    else answerJson(response, failure('RequestTooFrequently'), 429)
  })
  await listRules(platform.client, context)
  await listRules(platform.client, context)
  const warnings = platform.logs.map(line => JSON.parse(line)).filter(({ level }) => level === 40)
  expect(warnings).toMatchObject([{ account: expect.any(String), operation: 'list-alert-rules' }])
  expect(warnings[0].msg).toMatch(/Waiting/)
})

test('an import is sent once, whatever comes', async () => {
  await using platform = await openScriptedPlatform((_request, response) =>
    answerJson(response, failure('RequestTooFrequently'), 429),
  )
  expect(await importOnce(platform, batch, context)).toMatchObject({
    ok: false,
    requests: 1,
    refusal: { kind: 'too-frequent' },
  })
  expect(platform.received).toHaveLength(1)
})

test('a listing is not tried again before the time that Retry-After names', async () => {
  const order: string[] = []
  const tryAgain = (name: string, retryAfterMs: number | null, maxAttempts: number) =>
    retryListing(
      // biome-ignore lint/correctness/useYield: it has no rows
      async function* () {
        order.push(name)
        const about = { httpStatus: 503, requestId: 'r', retryAfterMs }
        return { ok: false, requests: 1, refusal: refusedByPlatform(about, 'ServiceUnavailable', '') }
      },
      { signal: context.signal, maxAttempts, onTooFrequent() {}, onRetry() {} },
    ).next()
  // Without it, the third attempt comes 1.5 s after the first at the latest.
  await Promise.all([tryAgain('waits', 3_000, 2), tryAgain('goes on', null, 3)])
  expect(order).toEqual(['waits', 'goes on', 'goes on', 'goes on', 'waits'])
})

test('a listing ends with its one page, or with none if it was refused', async () => {
  const endOf = async (body: object, status?: number) => {
    await using platform = await openScriptedPlatform((_request, response) =>
      answerJson(response, body, status),
    )
    const steps = await Array.fromAsync(platform.client.listAlertRules(0n, () => -1, context))
    return steps.at(-1)
  }
  expect(await endOf(success([]))).toMatchObject({ kind: 'ended', pages: 1, answer: { ok: true } })
  expect(await endOf(failure('Unauthorized'), 401)).toMatchObject({
    kind: 'ended',
    pages: 0,
    answer: { ok: false },
  })
})
