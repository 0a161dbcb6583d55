import { expect, test } from 'vitest'
import type { Operation } from '#src/model/call.ts'
import { SANDBOX_ACCOUNT_ID } from '#src/sandbox/keys.ts'
import { maxInAnyWindow } from '#src/sandbox/received.ts'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { call, importOf, openSmallSandbox } from './sandbox-harness.ts'

const LONG = 600_000

/** The statuses of `times` calls, one after another. */
async function statuses(sandbox: Sandbox, operation: Operation, times: number, key = sandbox.appKey) {
  const heard: number[] = []
  const body = operation === 'import-subscribers' ? importOf('a@example.com') : {}
  for (let n = 0; n < times; n++) heard.push((await call(sandbox, operation, body, { key })).status)
  return heard
}

test('without a word, imports are held to 2 a second and lists to 50', async () => {
  await using sandbox = await openSmallSandbox()
  expect(await statuses(sandbox, 'import-subscribers', 3)).toEqual([200, 200, 429])
  const lists = await Promise.all(Array.from({ length: 60 }, () => call(sandbox, 'list-mcp-servers')))
  // On a busy machine sixty calls may take longer than the window.
  const admitted = sandbox.state.received.filter(({ status }) => status === 200)
  expect(maxInAnyWindow(admitted, 'list-mcp-servers', 1_000)).toBeLessThanOrEqual(50)
  expect(lists.filter(heard => heard.status === 200).length).toBeGreaterThanOrEqual(50)
})

test('a call over the limit gets RequestTooFrequently and does no work', async () => {
  await using sandbox = await openSmallSandbox({
    limits: { 'import-subscribers': [{ max: 1, windowMs: LONG }] },
  })
  await call(sandbox, 'import-subscribers', importOf('first@example.com'))
  const refused = await call(sandbox, 'import-subscribers', importOf('second@example.com'))
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RequestTooFrequently' } } })
  expect(refused.headers.get('retry-after')).toBeNull()
  const [pageId] = [BigInt(importOf().page_id)]
  expect(sandbox.state.subscribers.list(pageId!, 'email').map(each => each.recipient)).toEqual([
    'first@example.com',
  ])
})

test('a 429 says how long to wait if it is told to', async () => {
  await using sandbox = await openSmallSandbox({
    retryAfter: true,
    limits: { 'list-alert-rules': [{ max: 1, windowMs: 30_000 }] },
  })
  await call(sandbox, 'list-alert-rules')
  const refused = await call(sandbox, 'list-alert-rules')
  expect(refused.headers.get('retry-after')).toBe('30')
})

test('two keys of one account share its limit, but for the MCP list, which is counted by key', async () => {
  const once = [{ max: 1, windowMs: LONG }]
  await using sandbox = await openSmallSandbox({
    limits: { 'list-alert-rules': once, 'list-mcp-servers': once },
  })
  sandbox.state.addKey({ key: 'twin' })
  sandbox.state.addKey({ key: 'stranger', accountId: SANDBOX_ACCOUNT_ID + 1n })
  const statusesOf = async (operation: Operation) =>
    Promise.all([sandbox.appKey, 'twin', 'stranger'].map(key => statuses(sandbox, operation, 1, key)))
  expect((await statusesOf('list-alert-rules')).flat().sort()).toEqual([200, 200, 429])
  expect((await statusesOf('list-mcp-servers')).flat()).toEqual([200, 200, 200])
  expect(await statuses(sandbox, 'list-alert-rules', 1, 'stranger')).toEqual([429])
})

test('a call that is refused before the limit is not counted, one refused after it is', async () => {
  await using sandbox = await openSmallSandbox({
    limits: { 'list-alert-rules': [{ max: 1, windowMs: LONG }] },
  })
  sandbox.state.addKey({ key: 'idle', permissions: [] })
  expect(await statuses(sandbox, 'list-alert-rules', 3, 'nobody')).toEqual([401, 401, 401])
  expect(await statuses(sandbox, 'list-alert-rules', 2, 'idle')).toEqual([403, 429])
})

test('no limits means none', async () => {
  await using sandbox = await openSmallSandbox({ limits: false })
  expect(new Set(await statuses(sandbox, 'import-subscribers', 10))).toEqual(new Set([200]))
})

test('what was received tells when, who, what and the answer, and never a recipient', async () => {
  await using sandbox = await openSmallSandbox({ limits: false })
  await call(sandbox, 'import-subscribers', importOf('secret.person@example.com', 'b@example.com'))
  await call(sandbox, 'list-mcp-servers', { p: 2, limit: 3, include_account: false })
  await call(sandbox, 'list-alert-rules', {}, { key: 'nobody' })
  const known = { accountId: SANDBOX_ACCOUNT_ID, appKey: sandbox.appKey, countedAt: expect.any(Number) }
  expect(sandbox.state.received).toMatchObject([
    {
      ...known,
      operation: 'import-subscribers',
      status: 200,
      body: { pageId: 5_750_613_685_214n, subscribers: 2 },
    },
    {
      ...known,
      operation: 'list-mcp-servers',
      status: 200,
      body: { page: 2n, limit: 3n, includeAccount: false },
    },
    { operation: 'list-alert-rules', status: 401, countedAt: null, accountId: null, appKey: null },
  ])
  expect(Object.values(sandbox.state.received[0]!).map(String).join()).not.toContain('secret.person')
})

test('the most in any window counts refused calls too, for it is the client that is measured', async () => {
  await using sandbox = await openSmallSandbox()
  await statuses(sandbox, 'import-subscribers', 5)
  expect(sandbox.state.maxInAnyWindow('import-subscribers', LONG)).toBe(5)
  expect(sandbox.state.maxInAnyWindow('list-alert-rules', LONG)).toBe(0)
})

test('a call is counted after its time on the way in, and answered after its time on the way out', async () => {
  await using sandbox = await openSmallSandbox({ arriveMs: [60, 80], answerMs: 50 })
  const sentAt = performance.now()
  await call(sandbox, 'list-mcp-servers')
  const heardAt = performance.now()
  const countedAt = sandbox.state.received[0]!.countedAt!
  // Timers may fire up to a millisecond early.
  expect(countedAt - sentAt).toBeGreaterThanOrEqual(59)
  expect(heardAt - countedAt).toBeGreaterThanOrEqual(49)
})
