import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { deliverPending } from '#src/notify/deliver.ts'
import { Acceptances } from '#src/notify/pending.ts'
import { fileHolding } from '#test/support/settings.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { openReceiver, status } from './receiver.ts'

/** A digest of five messages that is due, for a receiver that takes bodies of at most `most` messages. */
async function setup(most: number) {
  await using opened = new AsyncDisposableStack()
  const receiver = opened.use(await openReceiver())
  const harness = opened.use(await openNotifyHarness())
  const imports = (body: string): string[] =>
    JSON.parse(body).data.messages.map((one: { data: { import: string } }) => one.data.import)
  receiver.answer = response => {
    const { body = '' } = receiver.received.at(-1) ?? {}
    status(imports(body).length > most ? 413 : 200)(response)
  }
  await harness.query(`insert into ferry.receivers (name, after_event) values ('daily', 0)`)
  const receivers = [{ name: 'daily', url: receiver.url, digest: 'daily at 08:00' }]
  const settings = {
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    FERRY_RECEIVERS_FILE: fileHolding(JSON.stringify({ receivers })),
  }
  const [daily] = readConfig(settings).notify.receivers
  if (!daily) throw new Error('the receiver is not read')
  const notifier = harness.openNotifier(settings)
  for (const subject of ['1', '2', '3', '4', '5']) await harness.raise({ subject }, { import: subject })
  await notifier.look()
  await harness.query(`update ferry.deliveries set at = at - interval '1 day'`)
  const kept = opened.move()
  return {
    ...harness,
    receiver,
    daily,
    notifier,
    sent: () => receiver.received.map(({ body }) => imports(body).join(' ')),
    ids: () => receiver.received.map(({ headers }) => headers['webhook-id']),
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

const STATES = 'select subject, http_status, attempts from ferry.deliveries order by event'

test('a digest that is too large for its receiver is sent in halves, in order and each under an id of its own', async () => {
  await using harness = await setup(2)
  await harness.notifier.look()
  expect(harness.sent()).toEqual(['1 2 3 4 5', '1 2 3', '1 2', '3', '4 5'])
  const [, , ...accepted] = harness.ids()
  expect(new Set(accepted).size).toBe(3)
  expect(await harness.query(STATES)).toEqual(
    ['1', '2', '3', '4', '5'].map(subject => ({ subject, http_status: 200, attempts: 1 })),
  )
})

test('a single message that is too large is refused for itself: the rest of its digest is sent', async () => {
  await using harness = await setup(5)
  const answer = harness.receiver.answer
  harness.receiver.answer = response =>
    harness.sent().at(-1)?.includes('2') ? status(413)(response) : answer(response)
  await harness.notifier.look()
  expect(harness.sent()).toEqual(['1 2 3 4 5', '1 2 3', '1 2', '1', '2', '3', '4 5'])
  await harness.notifier.look()
  expect(harness.sent()).toHaveLength(7)
  expect(await harness.query(STATES)).toEqual(
    ['1', '2', '3', '4', '5'].map(subject => ({
      subject,
      http_status: subject === '2' ? 413 : 200,
      attempts: 1,
    })),
  )
})

test('the rest of a halved digest waits while its receiver is down', async () => {
  await using harness = await setup(3)
  const answer = harness.receiver.answer
  harness.receiver.answer = response =>
    harness.sent().at(-1) === '4 5' ? status(503)(response) : answer(response)
  expect(await harness.notifier.look()).toBe(5_000)
  harness.receiver.answer = answer
  await harness.endWaiting()
  await harness.notifier.look()
  expect(harness.sent()).toEqual(['1 2 3 4 5', '1 2 3', '4 5', '4 5'])
  const [, , failed, again] = harness.ids()
  expect(again).toBe(failed)
})

test('a slow receiver gets all halves of a digest that it refused before', async () => {
  await using harness = await setup(3)
  await harness.query(
    `update ferry.deliveries set http_status = 413, retry_at = clock_timestamp() - interval '1 min'`,
  )
  let clockMs = 0
  const told: number[] = []
  await deliverPending(
    {
      pool: harness.ferry.pool,
      log: pino({ level: 'silent' }),
      receiver: harness.daily,
      acceptances: new Acceptances(harness.ferry.pool, 'daily'),
      publicUrl: null,
      nowMs: () => clockMs,
      caller: {
        async call(posting) {
          const { messages } = JSON.parse(posting?.body ?? '').data
          clockMs += 7_000
          told.push(messages.length)
          return messages.length > 3
            ? { ok: false, httpStatus: 413, why: 'it answered HTTP 413' }
            : { ok: true, httpStatus: 200 }
        },
        async [Symbol.asyncDispose]() {},
      },
    },
    new AbortController().signal,
  )
  expect(told).toEqual([5, 3, 2])
})
