import { expect, onTestFinished, test, vi } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { holdLease, removeLeases } from '#test/support/leases.ts'
import { ageRuns } from '#test/support/runs.ts'
import { openNotifyHarness } from './notify-harness.ts'

test('a notifier sends nothing while another worker has the lease', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await holdLease(harness.ferry.pool, 'notify', 'another worker')
  expect(await harness.openNotifier().look()).toBe(Number.POSITIVE_INFINITY)
  expect(harness.receiver.received).toEqual([])
  await removeLeases(harness.ferry.pool)
  await harness.openNotifier().look()
  expect(harness.receiver.messages()).toHaveLength(1)
})

test('a new receiver is told of what is wrong as it is added, and not of what was before', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  await harness.query('delete from ferry.receivers')
  await saveFreshnessTargets(harness.ferry.pool, [FRESHNESS_TARGET])
  await harness.sync()
  await ageRuns(harness.ferry.pool, '1 hour')
  await harness.openNotifier().look()
  expect(harness.receiver.messages().map(({ type }) => type)).toEqual(['inventory.late'])
})

test('an account whose inventories were never read has no heartbeat, and without an address for events none is sent', async () => {
  await using harness = await openNotifyHarness()
  await harness.raise({})
  const heartbeat = {
    FERRY_WEBHOOK_URL: '',
    FERRY_WEBHOOK_SECRET: '',
    FERRY_HEARTBEAT_URL: harness.receiver.url,
  }
  expect(await harness.openNotifier(heartbeat).look()).toBe(Number.POSITIVE_INFINITY)
  expect(harness.receiver.received).toEqual([])
})

test('a receiver that somebody removed from the table is told again of what happens after the next watch', async () => {
  await using harness = await openNotifyHarness()
  const notifier = harness.openNotifier()
  await notifier.look()
  await harness.query('delete from ferry.receivers')
  await harness.raise({ subject: '1' }, { import: '1' })
  await notifier.look()
  const nowMs = performance.now()
  const clock = vi.spyOn(performance, 'now').mockReturnValue(nowMs + 20_001)
  onTestFinished(() => clock.mockRestore())
  await notifier.look()
  await harness.raise({ subject: '2' }, { import: '2' })
  await notifier.look()
  expect(harness.receiver.messages().map(({ data }) => data.import)).toEqual(['2'])
})
