import { expect, test } from 'vitest'
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
