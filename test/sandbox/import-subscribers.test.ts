import { expect, test } from 'vitest'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'
import { call, importOf, openSmallSandbox } from './sandbox-harness.ts'

const unlimited = () => openSmallSandbox({ limits: false })

test('an import is answered with an empty object and every recipient is subscribed', async () => {
  await using sandbox = await unlimited()
  const heard = await call(sandbox, 'import-subscribers', importOf('a@example.com', 'b@example.com'))
  expect(heard).toMatchObject({ status: 200, body: { data: {} } })
  expect(sandbox.state.subscribers.list(SANDBOX_PAGE_ID, 'email')).toEqual([
    { recipient: 'a@example.com', all: true, componentIds: [], locale: 'en-US', deliveries: 1 },
    { recipient: 'b@example.com', all: true, componentIds: [], locale: 'en-US', deliveries: 1 },
  ])
})

test('the same recipient again replaces its settings, and its deliveries are counted', async () => {
  await using sandbox = await unlimited()
  const recipient = 'a@example.com'
  await call(sandbox, 'import-subscribers', importOf(recipient))
  const subscribers = [{ recipient, all: false, component_ids: ['01J8'], locale: 'es-419' }]
  await call(sandbox, 'import-subscribers', { ...importOf(), subscribers })
  expect(sandbox.state.subscribers.list(SANDBOX_PAGE_ID, 'email')).toEqual([
    { recipient, all: false, componentIds: ['01J8'], locale: 'es-419', deliveries: 2 },
  ])
})

test('pages and methods keep their subscribers apart', async () => {
  await using sandbox = await unlimited()
  sandbox.state.subscribers.addPage(2n ** 64n - 1n)
  const text = JSON.stringify(importOf('a@example.com')).replace(
    /"page_id":\d+/,
    '"page_id":18446744073709551615',
  )
  await call(sandbox, 'import-subscribers', {}, { text })
  await call(sandbox, 'import-subscribers', { ...importOf('someone'), method: 'im' })
  const count = (pageId: bigint, method: string) => sandbox.state.subscribers.count(pageId, method)
  expect(count(2n ** 64n - 1n, 'email')).toBe(1)
  expect(count(SANDBOX_PAGE_ID, 'im')).toBe(1)
  expect(count(SANDBOX_PAGE_ID, 'email')).toBe(0)
})

test('a page that does not exist is not found, with HTTP 400', async () => {
  await using sandbox = await unlimited()
  const heard = await call(sandbox, 'import-subscribers', { ...importOf('a@example.com'), page_id: 1 })
  expect(heard).toMatchObject({ status: 400, body: { error: { code: 'ResourceNotFound' } } })
})

const good = { recipient: 'good@example.com', all: true, locale: 'en-US' }

test.for<[string, object, string]>([
  ['no page', { page_id: undefined }, 'page_id'],
  ['an unknown method', { method: 'pigeon' }, 'method'],
  ['nobody', { subscribers: [] }, 'subscribers'],
  ['no list', { subscribers: {} }, 'subscribers'],
  ['no recipient', { subscribers: [good, { ...good, recipient: undefined }] }, 'subscribers[1].recipient'],
  ['an empty recipient', { subscribers: [good, { ...good, recipient: '' }] }, 'subscribers[1].recipient'],
  [
    'an empty recipient of another channel',
    { method: 'im', subscribers: [good, { ...good, recipient: '' }] },
    'subscribers[1].recipient: must not be empty',
  ],
  [
    'no address',
    { subscribers: [good, { ...good, recipient: 'nobody' }] },
    'subscribers[1].recipient: "nobody"',
  ],
  ['a space', { subscribers: [good, { ...good, recipient: 'a b@example.com' }] }, 'subscribers[1].recipient'],
  [
    '256 letters',
    { subscribers: [{ ...good, recipient: `${'a'.repeat(244)}@example.com` }] },
    'subscribers[0].recipient',
  ],
  ['no all', { subscribers: [{ ...good, all: undefined }] }, 'subscribers[0].all'],
  ['no components', { subscribers: [{ ...good, all: false }] }, 'subscribers[0].component_ids'],
  [
    'a numeric component',
    { subscribers: [{ ...good, component_ids: [1] }] },
    'subscribers[0].component_ids[0]',
  ],
  ['no locale', { subscribers: [{ ...good, locale: undefined }] }, 'subscribers[0].locale'],
  ['a language alone', { subscribers: [{ ...good, locale: 'en' }] }, 'subscribers[0].locale'],
  ['an underscore', { subscribers: [{ ...good, locale: 'en_US' }] }, 'subscribers[0].locale'],
])(
  'an import with %s is an InvalidParameter that names the place, and nobody is subscribed',
  async ([, wrong, named]) => {
    await using sandbox = await unlimited()
    const heard = await call(sandbox, 'import-subscribers', { ...importOf('good@example.com'), ...wrong })
    expect(heard).toMatchObject({ status: 400, body: { error: { code: 'InvalidParameter' } } })
    expect(heard.body.error.message).toContain(named)
    for (const method of ['email', 'im'] as const) {
      expect(sandbox.state.subscribers.count(SANDBOX_PAGE_ID, method)).toBe(0)
    }
  },
)

test('a body that is too long is EntityTooLarge', async () => {
  await using sandbox = await openSmallSandbox({ maxBodyBytes: 300 })
  expect(await call(sandbox, 'import-subscribers', importOf('a@example.com'))).toMatchObject({ status: 200 })
  const many = importOf(...Array.from({ length: 5 }, (_, n) => `a${n}@example.com`))
  expect(await call(sandbox, 'import-subscribers', many)).toMatchObject({
    status: 413,
    body: { error: { code: 'EntityTooLarge' } },
  })
})

test('more subscribers than the platform takes are EntityTooLarge, and nobody is subscribed', async () => {
  await using sandbox = await openSmallSandbox({ maxSubscribers: 2 })
  const three = importOf('a@example.com', 'b@example.com', 'c@example.com')
  expect(await call(sandbox, 'import-subscribers', three)).toMatchObject({
    status: 413,
    body: { error: { code: 'EntityTooLarge' } },
  })
  expect(sandbox.state.subscribers.count(SANDBOX_PAGE_ID, 'email')).toBe(0)
  sandbox.state.maxSubscribers = 3
  expect(await call(sandbox, 'import-subscribers', three)).toMatchObject({ status: 200 })
})

test('a hook that looks at the recipients may refuse one by name', async () => {
  await using sandbox = await unlimited()
  sandbox.state.onCall(({ body }) => {
    const refused = recipientsOf(body).find(recipient => recipient.startsWith('poison'))
    if (refused === undefined) return undefined
    return { kind: 'error', code: 'InvalidParameter', message: `${refused} is not accepted` }
  })
  const heard = await call(sandbox, 'import-subscribers', importOf('a@example.com', 'poison@example.com'))
  expect(heard.body.error).toEqual({
    code: 'InvalidParameter',
    message: 'poison@example.com is not accepted',
  })
  expect(await call(sandbox, 'import-subscribers', importOf('a@example.com'))).toMatchObject({ status: 200 })
})

function recipientsOf(body: unknown): string[] {
  return (body as { subscribers: { recipient: string }[] }).subscribers.map(({ recipient }) => recipient)
}
