import { pino } from 'pino'
import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { openCaller } from '#src/notify/caller.ts'
import { deliverPending } from '#src/notify/deliver.ts'
import { Acceptances } from '#src/notify/pending.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { SECRET } from './receiver.ts'

test("a message says when it is sent by the database's clock, also one that waited for others before it", async () => {
  await using harness = await openNotifyHarness()
  for (const subject of ['1', '2', '3']) await harness.raise({ subject })
  const { notify, proxy } = readConfig({
    FERRY_WEBHOOK_URL: harness.receiver.url,
    FERRY_WEBHOOK_SECRET: SECRET,
  })
  const [receiver] = notify.receivers
  if (!receiver) throw new Error('the receiver is not read')
  await harness.route()
  await using caller = openCaller(receiver.url, receiver.urlSetting, notify, proxy)
  let clockMs = 5_000_000
  harness.receiver.answer = response => {
    clockMs += 40_000
    response.end()
  }
  const seconds = async () => {
    const [row] = await harness.query<{ s: number }>(
      'select floor(extract(epoch from clock_timestamp()))::int as s',
    )
    return row?.s ?? 0
  }
  const before = await seconds()
  const { pool } = harness.ferry
  const acceptances = new Acceptances(pool, receiver.name)
  await deliverPending(
    {
      pool,
      log: pino({ level: 'silent' }),
      receiver,
      caller,
      acceptances,
      publicUrl: null,
      nowMs: () => clockMs,
    },
    new AbortController().signal,
  )
  const sentAt = harness.receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']))
  const after = await seconds()
  expect(sentAt).toHaveLength(3)
  for (const [n, at] of sentAt.entries()) {
    expect(at - 40 * n).toBeGreaterThanOrEqual(before)
    expect(at - 40 * n).toBeLessThanOrEqual(after)
  }
})
