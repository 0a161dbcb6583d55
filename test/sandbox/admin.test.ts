import { networkInterfaces } from 'node:os'
import { fetch } from 'undici'
import { expect, test } from 'vitest'
import type { Sandbox } from '#src/sandbox/sandbox.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { ask, call, importOf, openSmallSandbox } from './sandbox-harness.ts'

function tell(sandbox: Sandbox, name: string, fields?: object) {
  return ask(sandbox, `/_sandbox/${name}`, {
    key: null,
    text: fields === undefined ? '' : JSON.stringify(fields),
  })
}

test('rules are added, changed and removed from outside, ids as strings', async () => {
  await using sandbox = await openSmallSandbox({ rules: 0 })
  const id = '18446744073709551615'
  const added = await tell(sandbox, 'add-rule', { fields: { id, name: 'from outside' } })
  expect(added).toMatchObject({ status: 200, body: { id, name: 'from outside' } })
  await tell(sandbox, 'change-rule', { id, patch: { folder_id: '77', name: 'changed' } })
  expect(sandbox.state.rules.get(2n ** 64n - 1n)).toMatchObject({ name: 'changed', folder_id: 77n })
  await tell(sandbox, 'remove-rule', { id })
  expect(sandbox.state.rules.size).toBe(0)
})

test('servers are added, changed and removed from outside', async () => {
  await using sandbox = await openSmallSandbox({ servers: 1 })
  await tell(sandbox, 'add-server', { fields: { server_id: 's', team_id: 0 }, index: 0 })
  await tell(sandbox, 'change-server', { id: 's', patch: { created_by: '18446744073709551615' } })
  expect(sandbox.state.servers.rows()[0]).toMatchObject({
    server_id: 's',
    team_id: 0n,
    created_by: 2n ** 64n - 1n,
  })
  await tell(sandbox, 'remove-server', { id: 's' })
  expect(sandbox.state.servers.size).toBe(1)
})

test('data is mutated, reordered, multiplied and replaced from outside', async () => {
  await using sandbox = await openSmallSandbox()
  expect((await tell(sandbox, 'mutate', { count: 3, mix: ['rule-removed'] })).body).toMatchObject({
    'rule-removed': 3,
  })
  await tell(sandbox, 'add-samples', { rules: 10 })
  expect((await tell(sandbox, 'counts')).body).toMatchObject({ rules: 12, servers: 5 })
  const before = sandbox.state.rules.ids()
  await tell(sandbox, 'reorder', { seed: 2 })
  expect(sandbox.state.rules.ids()).not.toEqual(before)
  await tell(sandbox, 'replace-rules-body', { data: '[7]' })
  await tell(sandbox, 'replace-servers-body', { data: '{}' })
  expect((await call(sandbox, 'list-alert-rules')).body.data).toEqual([7])
  expect((await call(sandbox, 'list-mcp-servers')).body.data).toEqual({})
})

test('faults are injected and cleared from outside', async () => {
  await using sandbox = await openSmallSandbox()
  const fault = { kind: 'error', code: 'InternalError' }
  await tell(sandbox, 'inject', { fault, operation: 'list-mcp-servers' })
  expect(await call(sandbox, 'list-mcp-servers')).toMatchObject({ status: 500 })
  expect(await call(sandbox, 'list-alert-rules')).toMatchObject({ status: 200 })
  await tell(sandbox, 'clear-faults')
  expect(await call(sandbox, 'list-mcp-servers')).toMatchObject({ status: 200 })
})

test('keys, pages and settings are set from outside', async () => {
  await using sandbox = await openSmallSandbox()
  await tell(sandbox, 'add-key', {
    key: 'gone',
    accountId: '9',
    permissions: [],
    expiresAt: '2020-01-01T00:00:00Z',
  })
  expect(await call(sandbox, 'list-mcp-servers', {}, { key: 'gone' })).toMatchObject({ status: 401 })
  await tell(sandbox, 'add-page', { pageId: '42' })
  expect(sandbox.state.subscribers.hasPage(42n)).toBe(true)
  const windows = [{ max: 1, windowMs: 100 }]
  await tell(sandbox, 'settings', {
    answerMs: [1, 2],
    freezeTotalAt: 3,
    maxSubscribers: 100,
    limits: { 'import-subscribers': windows },
  })
  expect(sandbox.state).toMatchObject({
    arriveMs: 0,
    answerMs: [1, 2],
    freezeTotalAt: 3,
    maxSubscribers: 100,
  })
  expect(sandbox.state.limits).toMatchObject({
    'import-subscribers': windows,
    'list-mcp-servers': { length: 2 },
  })
})

test('what was received and imported is read from outside, and the asking itself is neither counted nor seen', async () => {
  await using sandbox = await openSmallSandbox()
  await call(sandbox, 'import-subscribers', importOf('a@example.com'))
  await call(sandbox, 'list-alert-rules')
  const operation = 'import-subscribers'
  const received = (await tell(sandbox, 'received', { operation })).body
  expect(received).toMatchObject([
    { operation, status: 200, body: { pageId: String(SANDBOX_PAGE_ID), subscribers: 1 } },
  ])
  expect((await tell(sandbox, 'most-in-any-window', { operation, windowMs: 1_000 })).body).toBe(1)
  const page = { pageId: String(SANDBOX_PAGE_ID) }
  expect((await tell(sandbox, 'count-subscribers', page)).body).toBe(1)
  expect((await tell(sandbox, 'list-subscribers', page)).body).toMatchObject([
    { recipient: 'a@example.com', deliveries: 1 },
  ])
  expect(sandbox.state.received).toHaveLength(2)
})

test('a reset starts again from the sample data, with nothing received', async () => {
  await using sandbox = await openSmallSandbox()
  const before = sandbox.state.rules.rows()
  await tell(sandbox, 'mutate', { count: 12 })
  await call(sandbox, 'import-subscribers', importOf('a@example.com'))
  await tell(sandbox, 'inject', { fault: { kind: 'drop' } })
  await tell(sandbox, 'reset')
  expect(sandbox.state.rules.rows()).toEqual(before)
  expect(sandbox.state.received).toEqual([])
  expect(await call(sandbox, 'list-alert-rules')).toMatchObject({ status: 200 })
})

test('an unknown command, an unknown field and an unknown row are named in the error', async () => {
  await using sandbox = await openSmallSandbox()
  for (const unknown of ['explode', 'constructor']) {
    expect(await tell(sandbox, unknown)).toMatchObject({
      status: 404,
      body: { error: expect.stringContaining('mutate') },
    })
  }
  expect(await tell(sandbox, 'mutate', { count: 1, often: true })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('often') },
  })
  expect(await tell(sandbox, 'mutate', { count: 0, mix: [], often: true })).toMatchObject({
    status: 400,
    body: {
      error:
        'This command cannot use the body. count: write a whole number from 1 to 100000; ' +
        'mix: Too small: expected array to have >=1 items; there is no field often: the fields are count, mix.',
    },
  })
  expect(await tell(sandbox, 'reset', { often: true })).toMatchObject({
    body: { error: expect.stringContaining('there is no field often: this command takes no fields.') },
  })
  expect(await tell(sandbox, 'remove-rule', { id: '1' })).toMatchObject({
    status: 400,
    body: { error: expect.stringContaining('no row 1') },
  })
})

test.for([-1, 0, 1.5, 100_001, 1e9])(
  'mutate with a count of %s is refused, and so are samples by the thousand million',
  async count => {
    await using sandbox = await openSmallSandbox()
    const before = sandbox.state.rules.rows()
    expect(await tell(sandbox, 'mutate', { count })).toMatchObject({
      status: 400,
      body: { error: expect.stringContaining('count: write a whole number from 1 to 100000') },
    })
    if (count !== 0 && count !== 100_001) {
      expect(await tell(sandbox, 'add-samples', { rules: count, servers: count })).toMatchObject({
        status: 400,
        body: {
          error: expect.stringMatching(/rules: write .* from 0 to 200000; servers: write .* from 0 to 10000/),
        },
      })
    }
    expect(sandbox.state.rules.rows()).toEqual(before)
  },
)

test('mutate accepts a count up to its limit', async () => {
  await using sandbox = await openSmallSandbox()
  expect(await tell(sandbox, 'mutate', { count: 100_000 })).toMatchObject({ status: 200 })
})

test.for([
  ['settings', { limits: { 'list-mcp-servers': [{ max: 0, windowMs: 1 }] } }, 'max'],
  ['inject', { fault: { kind: 'drop' }, nth: 0 }, 'nth'],
  ['inject', { fault: { kind: 'drop' }, every: 0 }, 'every'],
] as const)('%s refuses a number that nothing would ever reach: %j', async ([name, fields, where]) => {
  await using sandbox = await openSmallSandbox()
  expect(await tell(sandbox, name, fields)).toMatchObject({
    status: 400,
    body: { error: expect.stringMatching(new RegExp(`${where}: Too small`)) },
  })
  expect(await call(sandbox, 'list-mcp-servers')).toMatchObject({ status: 200 })
})

test('a command whose body is too long says so', async () => {
  await using sandbox = await openSmallSandbox({ maxBodyBytes: 20 })
  const heard = await tell(sandbox, 'replace-rules-body', { data: 'x'.repeat(20) })
  expect(heard).toMatchObject({ status: 400, body: { error: expect.stringContaining('longer') } })
})

test('only a process on the same machine may use it', async context => {
  const outside = Object.values(networkInterfaces())
    .flat()
    .find(each => each?.family === 'IPv4' && !each.internal)
  if (outside === undefined) return context.skip('this machine has no other address')
  await using sandbox = await openSmallSandbox({ host: '0.0.0.0' })
  const { port } = new URL(sandbox.baseUrl)
  const response = await fetch(`http://${outside.address}:${port}/_sandbox/reset`, { method: 'POST' })
  expect(response.status).toBe(403)
})

test('the error for a wrong body names every mistake', async () => {
  await using sandbox = await openSmallSandbox()
  const error = async (name: string, text: string) => {
    const { status, body } = await ask(sandbox, `/_sandbox/${name}`, { key: null, text })
    expect(status).toBe(400)
    return body.error
  }
  const lead = 'This command cannot use the body.'
  expect(await error('mutate', '{"count":"3"}')).toBe(`${lead} count: expected number, received string.`)
  expect(await error('mutate', '{}')).toBe(`${lead} count: expected number, received undefined.`)
  expect(await error('mutate', '{"count":1,"mixx":1}')).toBe(
    `${lead} there is no field mixx: the fields are count, mix.`,
  )
  expect(await error('clear-faults', '{"all":true}')).toBe(
    `${lead} there is no field all: this command takes no fields.`,
  )
  expect(await error('add-page', '{"pageId":-1}')).toContain('pageId: ')
  expect(await error('mutate', '7')).toBe(`${lead} body: expected object, received number.`)
  expect(await error('inject', '{"fault":{"kind":"nonsense"},"nth":0}')).toMatch(/fault\.kind: .*; nth: /)
  expect(await error('mutate', '{"count":')).toMatch(/^The body is not JSON: /)
  for (const text of ['{"count":[]}', '{"count":1,"mix":[1]}']) {
    expect(await error('mutate', text)).not.toMatch(/[{}\n]|"code"/)
  }
})
