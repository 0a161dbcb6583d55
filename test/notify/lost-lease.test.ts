import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { takeOverLeases } from '#test/support/leases.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openNotifyHarness } from './notify-harness.ts'

const MESSAGES = 80

test('a worker that has lost the lease sends no more, however much it was about to send', async () => {
  await using harness = await openNotifyHarness()
  for (let n = 1; n <= MESSAGES; n++) await harness.raise({ subject: `${n}` })
  // All of them take half a minute. The worker asks for its lease after ten seconds.
  harness.receiver.answer = async response => {
    await delay(400)
    response.end()
  }
  const notifier = harness.openNotifier()
  const looked = notifier.look()
  await waitFor(() => harness.receiver.received.length > 0, { what: 'the first message' })
  await takeOverLeases(harness.ferry.pool)
  await looked
  await notifier[Symbol.asyncDispose]()
  expect(harness.receiver.received.length).toBeLessThan(MESSAGES)
})
