import { expect, onTestFinished, test, vi } from 'vitest'
import { openNotifyHarness } from './notify-harness.ts'
import { status } from './receiver.ts'

test('a message is signed so that the library of Standard Webhooks verifies it, and tells what happened', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await harness.openNotifier().look()
  const [message] = harness.receiver.messages()
  expect(message).toMatchObject({
    id: expect.stringMatching(/^msg_[0-9a-f-]{36}$/),
    type: 'import.paused',
    timestamp: expect.stringMatching(/^\d{4}-.*Z$/),
    data: {
      state: 'raised',
      account: 'default',
      import: '1',
      page: '2',
      code: 'NoLicense',
      requestId: 'r1',
      summary: expect.stringContaining('Import 1 is paused (NoLicense)'),
    },
  })
  expect(harness.receiver.received[0]).toMatchObject({ method: 'POST', path: '/hook?for=ferry' })
})

test('codes and ids of the platform are sent only if each is one plain word', async () => {
  await using harness = await openNotifyHarness()
  const words = 'call ada@example.com now'
  await harness.raise({}, { import: '1', page: '2', code: words, requestId: words })
  await harness.raise({ kind: 'mcp.tools.changed' }, { run: '7', servers: 2, serverIds: ['mcp_01', words] })
  await harness.openNotifier().look()
  expect(harness.receiver.messages()).toMatchObject([
    { data: { code: 'OtherCode', requestId: null, summary: expect.stringContaining('(OtherCode)') } },
    { data: { servers: 2, serverIds: ['mcp_01'] } },
  ])
  expect(JSON.stringify(harness.receiver.messages())).not.toContain('ada')
})

test('an event is raised once until it is resolved, and resolved once', async () => {
  await using harness = await openNotifyHarness()
  expect(await harness.resolve({})).toBe(false)
  expect(await harness.raise({})).toBe(true)
  expect(await harness.raise({})).toBe(false)
  expect(await harness.resolve({})).toBe(true)
  expect(await harness.resolve({})).toBe(false)
  expect(await harness.raise({})).toBe(true)
  const notifier = harness.openNotifier()
  await notifier.look()
  await notifier.look()
  expect(harness.receiver.messages().map(({ data }) => data.state)).toEqual(['raised', 'resolved', 'raised'])
})

test('while a receiver is down everything waits; then each message comes once, in order', async () => {
  await using harness = await openNotifyHarness()
  const notifier = harness.openNotifier()
  harness.receiver.answer = status(500)
  for (const subject of ['1', '2', '3']) await harness.raise({ subject })
  expect(await notifier.look()).toBeGreaterThan(1_000)
  await harness.raise({ subject: '4' })
  expect(await notifier.look()).toBeGreaterThan(1_000)
  expect(harness.receiver.received).toHaveLength(1)
  await harness.endWaiting()
  await notifier.look()
  expect(harness.receiver.received).toHaveLength(2)
  harness.receiver.answer = status(204)
  await harness.endWaiting()
  await notifier.look()
  await notifier.look()
  const messages = harness.receiver.messages().slice(2)
  expect(new Set(messages.map(({ id }) => id)).size).toBe(4)
  expect(messages).toHaveLength(4)
  expect(messages[0]?.id).toBe(harness.receiver.messages()[0]?.id)
})

test('a message that the receiver refuses for itself holds up only those about the same subject', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  await harness.raise({ subject: '1' })
  await harness.resolve({ subject: '1' })
  await harness.raise({ subject: '2' })
  receiver.answer = response => {
    response.writeHead(receiver.received.at(-1)?.body.includes('"import":"1"') ? 400 : 200).end()
  }
  await harness.resolve({ subject: '2' })
  await harness.query(`update ferry.events set data = '{"import":"2"}' where subject = '2'`)
  const notifier = harness.openNotifier()
  await notifier.look()
  await notifier.look()
  const told = receiver.messages().map(({ data }) => `${data.import} ${data.state}`)
  expect(told).toEqual(['1 raised', '2 raised', '2 resolved'])
})

test('a message is sent however many refused ones are before it, and looks are few', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  const notifier = harness.openNotifier()
  let looks = 0
  /** Looks as a worker does, until there is time. */
  async function lookUntilIdle(): Promise<void> {
    for (looks = 1; (await notifier.look()) < 1_000; looks++) if (looks === 20) return
  }
  for (let n = 1; n <= 250; n++) await harness.raise({ subject: `${n}` }, { import: `${n}` })
  // So often that the next attempt is not while this test runs.
  await harness.route()
  await harness.route()
  await harness.query('update ferry.deliveries set attempts = 10')
  receiver.answer = status(422)
  await lookUntilIdle()
  expect(looks).toBeLessThan(10)
  expect(receiver.received).toHaveLength(250)

  receiver.answer = status(200)
  await harness.raise({ subject: 'new' }, { import: 'new' })
  await harness.resolve({ subject: '1' })
  await lookUntilIdle()
  expect(looks).toBeLessThan(6)
  const told = () => receiver.messages().slice(250)
  expect(told().map(({ data }) => data.import)).toEqual(['new'])

  await harness.endWaiting()
  await lookUntilIdle()
  const words = told().map(({ data }) => `${data.import} ${data.state}`)
  expect(words.filter(word => word !== '1 resolved')).toEqual([
    'new raised',
    ...Array.from({ length: 250 }, (_, n) => `${n + 1} raised`),
  ])
  // It waited for the first of them alone, and is new: it does not wait for more of the others than one look sends.
  const at = words.indexOf('1 resolved')
  expect(at).toBeGreaterThan(words.indexOf('1 raised'))
  expect(at).toBeLessThanOrEqual(101)
})

test('a message that overtook what happened before it, because a clock was set back, waits for it', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await harness.query(`update ferry.events set at = at + interval '1 h'`)
  await harness.resolve({})
  const notifier = harness.openNotifier()
  await notifier.look()
  await notifier.look()
  expect(harness.receiver.messages().map(({ data }) => data.state)).toEqual(['raised', 'resolved'])
})

test('a worker that is stopped while it sends sends again under the same id, and so does the one after it', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  const stopping = new AbortController()
  receiver.answer = () => stopping.abort(new Error('killed'))
  await harness.raise({})
  const first = harness.openNotifier({}, stopping.signal)
  await first.look()
  expect(await harness.query('select attempts, delivered_at from ferry.deliveries')).toEqual([
    { attempts: 0, delivered_at: null },
  ])
  // As after kill -9: its lease has expired.
  await harness.query(
    `update ferry.leases set expires_at = clock_timestamp() - interval '1 s' where name = 'notify'`,
  )
  receiver.answer = status(200)
  await harness.openNotifier().look()
  const [before, after] = receiver.messages()
  expect(after).toEqual(before)
  expect(receiver.received).toHaveLength(2)
})

test('of several workers one sends, each message once; another takes over when it is gone', async () => {
  await using harness = await openNotifyHarness()
  const [a, b, c] = [harness.openNotifier(), harness.openNotifier(), harness.openNotifier()]
  for (const subject of ['1', '2', '3', '4']) await harness.raise({ subject })
  await Promise.all([a.look(), b.look(), c.look()])
  await Promise.all([a.look(), b.look(), c.look()])
  expect(new Set(harness.receiver.messages().map(({ id }) => id)).size).toBe(4)
  expect(harness.receiver.received).toHaveLength(4)
  for (const notifier of [a, b, c]) await notifier[Symbol.asyncDispose]()
  await harness.raise({ subject: '5' })
  await harness.openNotifier().look()
  expect(harness.receiver.received).toHaveLength(5)
})

test('a message waits no longer because the clock of the database was set back', async () => {
  await using harness = await openNotifyHarness()
  const notifier = harness.openNotifier()
  harness.receiver.answer = status(503)
  await harness.raise({})
  await notifier.look()
  await harness.query(
    `update ferry.deliveries set at = at + interval '2 h', retry_at = retry_at + interval '2 h'`,
  )
  harness.receiver.answer = status(200)
  await notifier.look()
  expect(await harness.query('select delivered_at is not null as told from ferry.deliveries')).toEqual([
    { told: true },
  ])
})

test("the time of a message is the database's: the clock of the machine may be wrong", async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  const notifier = harness.openNotifier()
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - 3_600_000 })
  await notifier.look()
  vi.useRealTimers()
  // The library refuses times that are five minutes off.
  expect(harness.receiver.messages()).toHaveLength(1)
})

test('only chosen events are told, and none that is older than a day', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({ subject: '1' })
  await harness.raise({ kind: 'import.completed', subject: '1' })
  await harness.raise({ kind: 'import.completed', subject: '2' })
  await harness.query(`update ferry.events set at = at - interval '25 h' where subject = '2'`)
  await harness.openNotifier({ FERRY_NOTIFY: 'import.completed' }).look()
  expect(harness.receiver.messages().map(({ type, data }) => [type, data.state])).toEqual([
    ['import.completed', 'raised'],
  ])
})

test('a message that waited for a day is not sent any more', async () => {
  await using harness = await openNotifyHarness()
  for (const subject of ['1', '2']) await harness.raise({ subject }, { import: subject })
  await harness.route()
  await harness.query("update ferry.deliveries set at = at - interval '25 h' where subject = '1'")
  await harness.openNotifier().look()
  expect(harness.receiver.messages().map(({ data }) => data.import)).toEqual(['2'])
})

test('what a receiver was away for is told if it goes on for another reason, and its end alone is not', async () => {
  await using harness = await openNotifyHarness()
  const late = { kind: 'inventory.late', subject: 'alert-rules' } as const
  const failing = { kind: 'run.failing', subject: 'alert-rules' } as const
  await harness.raise({})
  await harness.raise(late, { inventory: 'alert-rules', cause: 'key refused' })
  await harness.route()
  for (const table of ['events', 'deliveries'])
    await harness.query(`update ferry.${table} set at = at - interval '25 h'`)
  await harness.resolve({})
  await harness.raise(failing, { inventory: 'alert-rules', cause: 'key refused' })
  await harness.route()
  const waiting = `select e.kind, e.state from ferry.deliveries d join ferry.events e on e.id = d.event
    where d.at > now() - interval '1 h'`
  expect(await harness.query(waiting)).toEqual([{ kind: 'run.failing', state: 'raised' }])
})

test('a chat gets one sentence as text, in which no name is markup', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({ account: '<!channel> & co' })
  await harness.openNotifier({ FERRY_WEBHOOK_FORMAT: 'slack' }).look()
  const [{ body, headers } = { body: '', headers: {} }] = harness.receiver.received
  expect(JSON.parse(body)).toEqual({
    text: 'Account &lt;!channel&gt; &amp; co: Import 1 is paused (NoLicense). `ferry imports show 1` says why and what to do.',
  })
  expect(headers).not.toHaveProperty('webhook-signature')
})

test('a chat gets the link to the page besides', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  const settings = { FERRY_WEBHOOK_FORMAT: 'slack', FERRY_PUBLIC_URL: 'https://ferry.example.com' }
  await harness.openNotifier(settings).look()
  const [{ body } = { body: '' }] = harness.receiver.received
  expect(JSON.parse(body).text).toMatch(
    / says why and what to do\. https:\/\/ferry\.example\.com\/imports\/1$/,
  )
})

test('without a receiver nobody is told', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await harness.openNotifier({ FERRY_WEBHOOK_URL: '' }).look()
  expect(harness.receiver.received).toEqual([])
})
