import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { type Delivery, deliverPending } from '#src/notify/deliver.ts'
import { Acceptances } from '#src/notify/pending.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { status } from './receiver.ts'

/**
 * Three messages that a receiver refused, due for the longer the higher their number, and looks at them. `onCall` is told of
 * each message before the receiver, which needs seven seconds, accepts it.
 */
async function setup(onCall: (about: unknown) => Promise<unknown> = async () => {}) {
  const harness = await openNotifyHarness()
  for (const subject of ['1', '2', '3']) await harness.raise({ subject }, { import: subject })
  await harness.route()
  await harness.query(
    `update ferry.deliveries set attempts = 3, http_status = 422, failure = 'it answered HTTP 422',
       retry_at = clock_timestamp() - subject::int * interval '1 min'`,
  )
  let clockMs = 0
  const told: unknown[] = []
  const [receiver] = readConfig({ FERRY_WEBHOOK_URL: 'http://127.0.0.1:1' }).notify.receivers
  if (!receiver) throw new Error('the receiver is not read')
  const delivery: Delivery = {
    pool: harness.ferry.pool,
    log: pino({ level: 'silent' }),
    caller: {
      async call(posting) {
        const { data } = JSON.parse(posting?.body ?? '')
        await onCall(data.import)
        clockMs += 7_000
        told.push(`${data.import} ${data.state}`)
        return { ok: true, httpStatus: 200 }
      },
      async [Symbol.asyncDispose]() {},
    },
    receiver,
    acceptances: new Acceptances(harness.ferry.pool, receiver.name),
    publicUrl: null,
    nowMs: () => clockMs,
  }
  return Object.assign(harness, {
    told,
    async look() {
      await harness.route()
      return deliverPending(delivery, new AbortController().signal)
    },
  })
}

test('a new message goes before those that were refused, and of these the one that is due for longest goes first', async () => {
  await using harness = await setup()
  await harness.raise({ subject: 'new' }, { import: 'new' })
  while ((await harness.look()) === 0);
  expect(harness.told).toEqual(['new raised', '3 raised', '2 raised', '1 raised'])
})

test('a message waits for an earlier one about the same subject that was refused', async () => {
  await using harness = await setup()
  await harness.resolve({ subject: '1' })
  while ((await harness.look()) === 0);
  expect(harness.told).toEqual(['3 raised', '2 raised', '1 raised', '1 resolved'])
})

test('a message that is written while a slow receiver is sent refused ones again waits for one of them', async () => {
  await using harness = await setup(about =>
    about === '3' ? harness.raise({ subject: 'new' }, { import: 'new' }) : Promise.resolve(),
  )
  while ((await harness.look()) === 0);
  expect(harness.told).toEqual(['3 raised', 'new raised', '2 raised', '1 raised'])
})

test('a refused message holds up what happens next of its kind, account and subject, and of no other', async () => {
  await using harness = await openNotifyHarness()
  const { receiver } = harness
  const notifier = harness.openNotifier()
  receiver.answer = status(422)
  await harness.raise({}, { import: 'the refused one' })
  await notifier.look()
  receiver.answer = status(200)
  await harness.resolve({})
  await harness.raise({ kind: 'import.undecided' }, { import: 'of another kind' })
  await harness.raise({ account: 'other' }, { import: 'of another account' })
  await harness.raise({ subject: '2' }, { import: 'another' })
  await notifier.look()
  expect(receiver.messages().map(({ data }) => data.import)).toEqual([
    'the refused one',
    'of another kind',
    'of another account',
    'another',
  ])
})
