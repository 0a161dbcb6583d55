import { expect, test } from 'vitest'
import { ERRORS } from '#src/sandbox/errors.ts'
import type { FaultInput } from '#src/sandbox/faults.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { call, importOf, openSmallSandbox } from './sandbox-harness.ts'

const unlimited = () => openSmallSandbox({ limits: false })

const list = (sandbox: Sandbox) => call(sandbox, 'list-alert-rules')

/** Spoils the next rule list and says what came of it. */
async function spoil(sandbox: Sandbox, fault: FaultInput) {
  sandbox.state.inject(fault, { nth: 1 })
  return await list(sandbox)
}

test.for(Object.entries(ERRORS))('%s can be had, with its HTTP status', async ([code, [status]]) => {
  await using sandbox = await unlimited()
  const heard = await spoil(sandbox, { kind: 'error', code })
  expect(heard.status).toBe(status)
  expect(heard.body).toEqual({
    request_id: heard.headers.get('service-request-id'),
    error: { code, message: expect.any(String) },
  })
  expect(await list(sandbox)).toMatchObject({ status: 200 })
})

test('an error may have other words, another status, a Retry-After and a code nobody knows', async () => {
  await using sandbox = await unlimited()
  const heard = await spoil(sandbox, {
    kind: 'error',
    code: 'Tired',
    status: 418,
    message: 'Zzz',
    retryAfterS: 9,
  })
  expect(heard).toMatchObject({ status: 418, body: { error: { code: 'Tired', message: 'Zzz' } } })
  expect(heard.headers.get('retry-after')).toBe('9')
})

test('an error may have any status that is one of an error, and no other', async () => {
  await using sandbox = await unlimited()
  for (const status of [400, 499, 500, 599]) {
    const { body } = await spoil(sandbox, { kind: 'error', code: 'NoLicense', status })
    expect(body.error, `${status}`).toMatchObject({ code: 'NoLicense' })
    expect(sandbox.state.received.at(-1)?.status).toBe(status)
  }
  for (const status of [399, 600, 400.5])
    expect(() => sandbox.state.inject({ kind: 'error', code: 'NoLicense', status }), `${status}`).toThrow()
})

test('the n-th call of an operation fails, those before and after it do not, nor do other operations', async () => {
  await using sandbox = await unlimited()
  sandbox.state.inject({ kind: 'error', code: 'InternalError' }, { operation: 'list-alert-rules', nth: 2 })
  const statuses = [
    await call(sandbox, 'list-mcp-servers'),
    await call(sandbox, 'list-mcp-servers'),
    await list(sandbox),
    await list(sandbox),
    await list(sandbox),
  ].map(heard => heard.status)
  expect(statuses).toEqual([200, 200, 200, 500, 200])
})

test('of several faults for a call the first injected is used, and all of them count the call', async () => {
  await using sandbox = await unlimited()
  sandbox.state.inject({ kind: 'error', code: 'InternalError' }, { nth: 1 })
  sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' }, { every: 2 })
  sandbox.state.inject({ kind: 'error', code: 'BadRequest' }, { nth: 2 })
  const statuses = [await list(sandbox), await list(sandbox), await list(sandbox)].map(heard => heard.status)
  expect(statuses).toEqual([500, 503, 200])
})

test('without a number every call fails until the faults are cleared', async () => {
  await using sandbox = await unlimited()
  sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable' })
  expect([await list(sandbox), await call(sandbox, 'list-mcp-servers')]).toMatchObject([
    { status: 503 },
    { status: 503 },
  ])
  sandbox.state.clearFaults()
  expect(await list(sandbox)).toMatchObject({ status: 200 })
})

test('a refusal may have applied the first half of a batch, and says nothing of it', async () => {
  await using sandbox = await unlimited()
  const subscribed = () =>
    sandbox.state.subscribers.list(SANDBOX_PAGE_ID, 'email').map(one => [one.recipient, one.deliveries])
  const people = ['a', 'b', 'c', 'd', 'e'].map(name => `${name}@example.com`)
  sandbox.state.inject({ kind: 'error', code: 'InvalidParameter', applied: 'half' }, { nth: 1 })
  const refused = await call(sandbox, 'import-subscribers', importOf(...people))
  expect(refused).toMatchObject({ status: 400, body: { error: { code: 'InvalidParameter' } } })
  expect(subscribed()).toEqual(people.slice(0, 3).map(recipient => [recipient, 1]))
  sandbox.state.inject({ kind: 'error', code: 'ServiceUnavailable', applied: 'half' })
  expect(await list(sandbox)).toMatchObject({ status: 503 })
  expect(await call(sandbox, 'import-subscribers', { page_id: 1 })).toMatchObject({ status: 503 })
  await call(sandbox, 'import-subscribers', importOf('a@example.com'))
  expect(subscribed()[0]).toEqual(['a@example.com', 2])
})

test.for<FaultInput>([{ kind: 'error', code: 'InternalError' }, { kind: 'drop' }, { kind: 'html' }])(
  '%o leaves the import undone, and done if it strikes after applying',
  async fault => {
    await using sandbox = await unlimited()
    const delivered = () => sandbox.state.subscribers.get(SANDBOX_PAGE_ID, 'email', 'a@example.com')
    sandbox.state.inject(fault, { nth: 1 })
    await call(sandbox, 'import-subscribers', importOf('a@example.com')).catch(String)
    expect(delivered()).toBeUndefined()
    sandbox.state.inject({ ...fault, applied: true } as FaultInput, { nth: 1 })
    await call(sandbox, 'import-subscribers', importOf('a@example.com')).catch(String)
    expect(delivered()).toMatchObject({ deliveries: 1 })
    expect(sandbox.state.received.map(each => each.countedAt)).toEqual([
      expect.any(Number),
      expect.any(Number),
    ])
  },
)

test('a dropped connection ends without an answer', async () => {
  await using sandbox = await unlimited()
  await expect(spoil(sandbox, { kind: 'drop' })).rejects.toThrow('fetch failed')
  expect(sandbox.state.received).toMatchObject([{ status: null, countedAt: expect.any(Number) }])
})

test('a hanging call is never answered, and does not keep the sandbox from closing', async () => {
  const sandbox = await unlimited()
  const giveUp = new AbortController()
  sandbox.state.inject({ kind: 'hang' }, { nth: 1 })
  const hanging = call(sandbox, 'list-alert-rules', {}, { signal: giveUp.signal })
  expect(await list(sandbox)).toMatchObject({ status: 200 })
  expect(sandbox.state.received.map(each => each.status)).toEqual([null, 200])
  await sandbox.close()
  await expect(hanging).rejects.toThrow()
})

test('closing cuts off calls that are still on their way', async () => {
  const sandbox = await openSmallSandbox({ arriveMs: 600_000 })
  const slow = list(sandbox).catch(String)
  await expect.poll(() => sandbox.state.received.length).toBe(1)
  await sandbox.close()
  expect(await slow).toContain('fetch failed')
})

test('a truncated body ends in the middle', async () => {
  await using sandbox = await unlimited()
  await expect(spoil(sandbox, { kind: 'truncate' })).rejects.toThrow('terminated')
})

test('a late answer is the right one, later', async () => {
  await using sandbox = await unlimited()
  const sentAt = performance.now()
  expect(await spoil(sandbox, { kind: 'late', ms: 80 })).toMatchObject({ status: 200 })
  expect(performance.now() - sentAt).toBeGreaterThanOrEqual(79)
})

test('a gateway answers HTML without a request id', async () => {
  await using sandbox = await unlimited()
  const heard = await spoil(sandbox, { kind: 'html' })
  expect(heard.status).toBe(502)
  expect(heard.headers.get('content-type')).toBe('text/html')
  expect(heard.text).toContain('<html>')
  expect(heard.headers.get('service-request-id')).toBeNull()
})

test.for<[FaultInput, (heard: Awaited<ReturnType<typeof list>>) => void]>([
  [
    { kind: 'error-in-2xx', code: 'InternalError' },
    ({ body }) => expect(body).toMatchObject({ error: { code: 'InternalError' } }),
  ],
  [{ kind: 'no-data' }, ({ body }) => expect(Object.keys(body)).toEqual(['request_id'])],
  [{ kind: 'no-request-id' }, ({ body }) => expect(Object.keys(body)).toEqual(['data'])],
  [{ kind: 'empty' }, ({ text }) => expect(text).toBe('')],
  [{ kind: 'wrong-types' }, ({ body }) => expect(body.request_id).toBeTypeOf('number')],
  [{ kind: 'huge', bytes: 3_000_000 }, ({ text }) => expect(text.length).toBeGreaterThan(3_000_000)],
  [{ kind: 'raw', status: 200, body: '{"data":[{}]' }, ({ text }) => expect(text).toBe('{"data":[{}]')],
])('%o answers 200 all the same', async ([fault, expected]) => {
  await using sandbox = await unlimited()
  const heard = await spoil(sandbox, fault)
  expect(heard.status).toBe(200)
  expected(heard)
  const requestId = heard.headers.get('service-request-id')
  expect(requestId).toMatch(/\w/)
  expect([requestId, 7, undefined]).toContain(heard.body?.request_id)
})

test('a fault may be chosen by what the call asks for', async () => {
  await using sandbox = await unlimited()
  sandbox.state.onCall(({ body }) =>
    JSON.stringify(body).includes('poison@') ? { kind: 'error', code: 'InvalidParameter' } : undefined,
  )
  const send = (who: string) => call(sandbox, 'import-subscribers', importOf(who))
  expect(await send('good@example.com')).toMatchObject({ status: 200 })
  expect(await send('poison@example.com')).toMatchObject({ status: 400 })
})

test('a hook runs before the answer, is told which call it is, and may change the data meanwhile', async () => {
  await using sandbox = await unlimited()
  const seen: unknown[] = []
  sandbox.state.onCall(async ({ operation, number, body }) => {
    seen.push([operation, number, body])
    if (number === 2) sandbox.state.addServer({ server_name: 'Newcomer' }, 0)
  })
  const firstName = async (p: number) =>
    (await call(sandbox, 'list-mcp-servers', { p, limit: 1 })).body.data.servers[0].server_name
  const [first, second] = [await firstName(1), await firstName(2)]
  expect(second).toBe(first)
  expect(await firstName(1)).toBe('Newcomer')
  expect(seen.slice(0, 2)).toEqual([
    ['list-mcp-servers', 1, { p: 1, limit: 1 }],
    ['list-mcp-servers', 2, { p: 2, limit: 1 }],
  ])
})
