import { writeFileSync } from 'node:fs'
import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { fileHolding } from '#test/support/settings.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { openReceiver, type Receiver } from './receiver.ts'

const secretOf = (byte: number) => `whsec_${Buffer.alloc(32, byte).toString('base64')}`

const idsOf = ({ received }: Receiver, secret: string) =>
  received.map(({ body, headers }) => {
    new Webhook(secret).verify(body, headers)
    return JSON.parse(body).data.import
  })

test('address and secret of a receiver are rotated in their files between two messages: each message arrives once', async () => {
  await using harness = await openNotifyHarness()
  await using first = await openReceiver()
  await using second = await openReceiver()
  await harness.query(`insert into ferry.receivers select 'rotated', 0`)
  const urlFile = fileHolding(first.url)
  const secretFile = fileHolding(secretOf(1))
  const receivers = [{ name: 'rotated', urlFile, secretFile }]
  const notifier = harness.openNotifier({
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
  })
  const arrived = async (subjects: readonly string[]) => {
    const before = first.received.length + second.received.length
    for (const subject of subjects) await harness.raise({ subject }, { import: subject })
    await waitFor(
      async () => {
        await notifier.look()
        return first.received.length + second.received.length >= before + subjects.length
      },
      { what: 'messages' },
    )
  }
  await arrived(['1', '2'])
  // Not an address, and one that would go unencrypted to another machine: the last one stays.
  for (const text of ['', 'hook', 'http://example.com/hook']) {
    writeFileSync(urlFile, text)
    await arrived([`3 ${text}`])
  }
  writeFileSync(urlFile, second.url)
  writeFileSync(secretFile, secretOf(2))
  await arrived(['4', '5'])
  expect(idsOf(first, secretOf(1))).toEqual(['1', '2', '3 ', '3 hook', '3 http://example.com/hook'])
  expect(idsOf(second, secretOf(2))).toEqual(['4', '5'])
})

test('a secret is rotated while messages are sent: each arrives once, signed with the one before or the one after', async () => {
  await using harness = await openNotifyHarness()
  await using receiver = await openReceiver()
  await harness.query(`insert into ferry.receivers select 'rotated', 0`)
  const secretFile = fileHolding(secretOf(1))
  const receivers = [{ name: 'rotated', url: receiver.url, secretFile }]
  const notifier = harness.openNotifier({
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
  })
  const subjects = Array.from({ length: 200 }, (_, n) => `${n}`)
  for (const subject of subjects) await harness.raise({ subject }, { import: subject })
  const sending = waitFor(
    async () => {
      await notifier.look()
      return receiver.received.length >= subjects.length
    },
    { what: 'messages' },
  )
  for (let byte = 2; byte <= 5; byte++) {
    const before = receiver.received.length
    await waitFor(async () => receiver.received.length >= before + 20, { what: '20 messages' })
    writeFileSync(secretFile, secretOf(byte))
  }
  await sending
  const signedWith = receiver.received.map(({ body, headers }) =>
    [1, 2, 3, 4, 5].find(byte => {
      try {
        return new Webhook(secretOf(byte)).verify(body, headers)
      } catch {
        return false
      }
    }),
  )
  expect(signedWith).toEqual(signedWith.toSorted())
  expect(new Set(signedWith)).toEqual(new Set([1, 2, 3, 4, 5]))
  expect(receiver.received.map(({ body }) => JSON.parse(body).data.import)).toEqual(subjects)
})
