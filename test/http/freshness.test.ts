import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addSnapshot } from '#test/support/snapshots.ts'
import { ask, openHttpHarness, openTestHttp } from './http-harness.ts'

test('it is 200 while every inventory is within its freshness target, and 503 once one is late', async () => {
  await using harness = await openHttpHarness()
  await saveFreshnessTargets(harness.ferry.pool, [{ ...FRESHNESS_TARGET, targetMs: 60_000 }])
  const never = await harness.get('/freshness')
  expect(never).toMatchObject({ status: 503, json: { fresh: false, inventories: [{ state: 'never' }] } })

  const { run } = await harness.sync()
  await expect.poll(() => harness.get('/freshness').then(({ status }) => status)).toBe(200)
  expect((await harness.get('/freshness')).json).toEqual({
    fresh: true,
    inventories: [
      {
        account: 'default',
        inventory: 'alert-rules',
        lastCompleteAt: expect.stringMatching(/Z$/),
        lastCompleteRun: run.toString(),
        ageMs: expect.any(Number),
        targetMs: 60_000,
        schedule: 'poll-alert-rules',
        state: 'fresh',
        whyLate: null,
        lastFailedRun: null,
        errorCode: null,
        requestId: null,
        isAbandoned: false,
        hasWorker: false,
        keySetting: null,
        message: null,
      },
    ],
  })
  expect((await harness.scrape()).value('ferry_inventory_fresh')).toBe(1)

  // As if the database's clock had been set back by an hour: the listing is later than now.
  await harness.query(`update ferry.sync_runs set started_at = started_at + interval '1 hour',
    finished_at = finished_at + interval '1 hour'`)
  await expect.poll(() => harness.get('/freshness').then(({ status }) => status)).toBe(503)
  expect((await harness.get('/freshness')).json.inventories[0]).toMatchObject({
    state: 'late',
    whyLate: 'clock set back',
    message: expect.stringContaining('clock was set back'),
  })
})

test('one inventory that is late is enough for 503, however fresh the others are', async () => {
  await using harness = await openHttpHarness()
  await saveFreshnessTargets(harness.ferry.pool, [
    { ...FRESHNESS_TARGET, targetMs: 3_600_000 },
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null },
  ])
  await harness.sync()
  expect(await harness.get('/freshness')).toMatchObject({
    status: 503,
    json: { fresh: false, inventories: [{ state: 'fresh' }, { state: 'never' }] },
  })
})

test('the metrics have 1 for an inventory that is fresh, 0 for one that is late, and no instant of what never was', async () => {
  await using harness = await openHttpHarness()
  await saveFreshnessTargets(harness.ferry.pool, [
    { ...FRESHNESS_TARGET, targetMs: 3_600_000 },
    { ...FRESHNESS_TARGET, resource: 'mcp-servers', folders: null },
  ])
  await harness.sync()
  await addSnapshot(harness.ferry.pool, 'default', '2026-01-03T03:30:00Z')
  const { samples } = await harness.scrape()
  const of = (name: string) =>
    samples
      .filter(sample => sample.name === name)
      .map(({ labels, value }) => [Object.values(labels).join(' '), value])
  expect(of('ferry_inventory_fresh')).toEqual([
    ['default alert-rules', 1],
    ['default mcp-servers', 0],
  ])
  expect(of('ferry_inventory_freshness_target_seconds')).toEqual([
    ['default alert-rules', 3_600],
    ['default mcp-servers', 180],
  ])
  expect(of('ferry_inventory_last_complete_timestamp_seconds')).toEqual([
    ['default alert-rules', expect.closeTo(Date.now() / 1_000, -3)],
  ])
  expect(of('ferry_night_target_seconds')).toEqual([['default', 90_000]])
  expect(of('ferry_snapshot_last_timestamp_seconds')).toEqual([['default', 1_767_411_000]])
})

test('an inventory without a freshness target is neither fresh nor late in the metrics', async () => {
  await using harness = await openHttpHarness()
  await harness.sync()
  const { text } = await harness.get('/metrics')
  expect(text).toContain('ferry_inventory_last_complete_timestamp_seconds{')
  expect(text).not.toContain('ferry_inventory_fresh{')
})

test('a database without freshness targets and readings is not fresh', async () => {
  await using harness = await openHttpHarness()
  expect(await harness.get('/freshness')).toMatchObject({
    status: 503,
    json: { fresh: false, inventories: [] },
  })
})

test('a worker that starts does not know', async () => {
  await using http = await openTestHttp()
  expect(await ask(`${http.address}/freshness`)).toMatchObject({
    status: 503,
    json: { fresh: false, error: 'This worker is starting.' },
  })
})
