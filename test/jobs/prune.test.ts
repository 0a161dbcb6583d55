import { expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import { prune } from '#jobs/prune.ts'
import { listRuns } from '#src/inventory/list-runs.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { stageRows } from '#test/support/staged.ts'

const ago = (days: number) => new Date(Date.now() - days * 86_400_000)

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
  const [ended, staged] = [
    await stageRows(pool, { status: 'completed' }),
    await stageRows(pool, { status: 'staging' }),
  ]
  await stageRows(pool)
  await harness.query('update ferry.imports set finished_at = $1 where id = $2', [ago(31), ended])
  await harness.query('update ferry.imports set created_at = $1 where id = $2', [ago(2), staged])
  const never = new AbortController().signal
  const call = { account: '*', trigger: 'schedule' }
  await prune.run(harness.ferry, call, { signal: never, cutOff: never })
  expect(
    await harness.query('select id, purged_at is not null as purged from ferry.imports order by id'),
  ).toEqual([
    { id: `${ended}`, purged: true },
    { id: '3', purged: false },
  ])
})
