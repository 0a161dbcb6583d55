import { hostname } from 'node:os'
import { expect, test } from 'vitest'
import { oldWorkers } from '#src/db/prune.ts'
import { listWorkers, recordWorker } from '#src/db/workers.ts'
import { openWorker } from '#src/worker/worker.ts'
import { removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'
import { openQueueHarness } from './queue-harness.ts'

test('a worker is in the table of workers as long as it works, and no longer', async () => {
  await using harness = await openQueueHarness('postgres')
  const { pool } = harness.ferry
  const workers = () => listWorkers(pool, 10)
  const worker = await openWorker(harness.ferry, harness.openBackend(), {
    jobs: [],
    schedules: [],
    version: '1.2.3',
  })
  await expect.poll(workers).toEqual([
    {
      holder: 'test',
      host: hostname(),
      pid: process.pid,
      version: '1.2.3',
      startedAt: expect.any(Date),
      seenAt: expect.any(Date),
      isAlive: true,
    },
  ])
  await worker.drain(5_000)
  expect(await workers()).toEqual([])
})

test('a worker that was not seen for 90 seconds counts as silent, and one silent for a day is removed', async () => {
  await using store = await openTestStore()
  for (const [holder, seconds] of [
    ['alive', 80],
    ['silent', 100],
    ['gone', 25 * 3_600],
  ] as const) {
    await recordWorker(store.pool, holder, null, [])
    await store.pool.query(
      `update ferry.workers set seen_at = seen_at - $2 * interval '1 second', started_at = started_at - interval '1 h'
       where holder = $1`,
      [holder, seconds],
    )
  }
  expect(await listWorkers(store.pool, 2)).toMatchObject([
    { holder: 'alive', isAlive: true },
    { holder: 'silent', isAlive: false },
  ])
  expect(await removeOld(oldWorkers(store.pool))).toBe(1)
  const [, silent] = await listWorkers(store.pool, 2)
  await recordWorker(store.pool, 'silent', null, [])
  expect(await listWorkers(store.pool, 10)).toMatchObject([
    { holder: 'silent', isAlive: true, startedAt: silent!.startedAt },
    { holder: 'alive', isAlive: true },
  ])
})
