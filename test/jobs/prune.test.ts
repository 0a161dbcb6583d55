import { expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import { prune } from '#jobs/prune.ts'
import { defineSchedules } from '#jobs/schedules.ts'
import { cancelImport } from '#src/imports/control/decide.ts'
import { listSummaryRows } from '#src/imports/reporting/summary.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { stageRows } from '#test/support/staged.ts'

test('is a job that runs once a day for all accounts, and may run twice', async () => {
  await using harness = await openFerryHarness({ rules: 3 })
  await harness.sync()
  const call = { account: '*', trigger: 'schedule' } as const
  const never = new AbortController().signal
  const signals = { signal: never, cutOff: never }
  expect(await prune.run(harness.ferry, call, signals)).toEqual({ status: 'succeeded' })
  expect(await prune.run(harness.ferry, call, signals)).toEqual({ status: 'succeeded' })
  expect(await listRuns(harness.ferry.pool, 2)).toHaveLength(1)
  expect(JOBS).toContain(prune)
})

test('the job also purges imports that ended a month ago, and discards stagings nobody confirmed', async () => {
  await using harness = await openFerryHarness()
  const { pool } = harness.ferry
  const ended = await stageRows(pool)
  await cancelImport(pool, ended, ADA)
  const staged = await stageRows(pool, { status: 'staging' })
  const queued = await stageRows(pool)
  for (const id of [ended, staged, queued]) await ageImport(pool, id, '31 days')
  const never = new AbortController().signal
  const call = { account: '*', trigger: 'schedule' }
  await prune.run(harness.ferry, call, { signal: never, cutOff: never })
  expect(await listSummaryRows(pool, 9)).toMatchObject([
    { id: `${queued}`, purgedAt: null },
    { id: `${ended}`, purgedAt: expect.any(Date) },
  ])
})

test('is caught up with where workers run at other hours only', () => {
  const settings = { pollEveryMs: 1, mcpPollEveryMs: null, nightlyCron: '0 3 * * *', timezone: 'UTC' }
  const never = defineSchedules(settings).filter(({ isNeverTooLate }) => isNeverTooLate)
  expect(never.map(({ name }) => name)).toEqual([prune.name])
})

test('the job removes nothing more once its worker is told to stop, and says so', async () => {
  await using harness = await openFerryHarness()
  const { pool } = harness.ferry
  const staged = await stageRows(pool, { status: 'staging' })
  await ageImport(pool, staged, '31 days')
  const signal = AbortSignal.abort()
  const call = { account: '*', trigger: 'schedule' }
  expect(await prune.run(harness.ferry, call, { signal, cutOff: signal })).toEqual({ status: 'stopped' })
  expect(await listSummaryRows(pool, 9)).toMatchObject([{ id: `${staged}`, status: 'staging' }])
})
