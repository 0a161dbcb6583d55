import { expect, test } from 'vitest'
import { readConfig } from '#src/config.ts'
import { notifyNow } from '#src/worker/notifications.ts'
import { leasesOf } from '#test/support/leases.ts'
import { openNotifyHarness } from './notify-harness.ts'
import { SECRET } from './receiver.ts'

const NEVER = new AbortController().signal

test('what ends after it has told people tells them all there is, and leaves the lease to others', async () => {
  await using harness = await openNotifyHarness()
  // More than are decided about at once, and than are sent at once.
  for (let n = 1; n <= 205; n++) await harness.raise({ subject: `${n}` }, { import: `${n}` })
  const config = readConfig({ FERRY_WEBHOOK_URL: harness.receiver.url, FERRY_WEBHOOK_SECRET: SECRET })
  await notifyNow({ ...harness.ferry, config }, NEVER)
  expect(harness.receiver.messages().map(({ data }) => data.import)).toEqual(
    Array.from({ length: 205 }, (_, n) => `${n + 1}`),
  )
  expect(await leasesOf(harness.ferry.pool)).toEqual([])
})

test('a worker sends messages through the proxy of its settings', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  const config = readConfig({
    FERRY_WEBHOOK_URL: harness.receiver.url,
    FERRY_WEBHOOK_SECRET: SECRET,
    HTTP_PROXY: 'http://127.0.0.1:9',
  })
  await notifyNow({ ...harness.ferry, config }, NEVER)
  expect(harness.receiver.received).toEqual([])
  expect(await harness.query('select attempts, failure from ferry.deliveries')).toEqual([
    { attempts: 1, failure: expect.stringContaining('through the proxy 127.0.0.1:9 (HTTP_PROXY)') },
  ])
})
