import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { listRuns, loadRun } from '#src/inventory/runs/list-runs.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { leasesOf } from '#test/support/leases.ts'
import { waitFor } from '#test/support/wait-for.ts'

const SCRIPT = fileURLToPath(new URL('../support/sync-process.ts', import.meta.url))

function startSync(harness: FerryHarness): ChildProcess {
  const settings = {
    DATABASE_URL: harness.databaseUrl,
    FERRY_BASE_URL: harness.sandbox.baseUrl,
    FERRY_APP_KEY: harness.sandbox.appKey,
    FERRY_REQUEST_TIMEOUT: '120s',
  }
  return fork(SCRIPT, [JSON.stringify(settings)])
}

/** Syncs as soon as the inventory's lease is out; returns the result and how long after its end the run started. */
async function syncOnceFree(harness: FerryHarness) {
  const [lease] = await leasesOf(harness.ferry.pool)
  const result = await waitFor(
    async () => {
      const result = await harness.sync()
      return result.status === 'skipped' ? undefined : result
    },
    { what: 'the lease to expire' },
  )
  const details = await loadRun(harness.ferry.pool, result.run)
  return { result, startedAfterS: (details!.run.startedAt.getTime() - lease!.expiresAt.getTime()) / 1_000 }
}

/** How the runs that were not skipped ended, the first one first. */
async function endsOf(harness: FerryHarness) {
  const runs = await listRuns(harness.ferry.pool, 999)
  return runs
    .filter(run => run.status !== 'skipped')
    .map(({ status, errorCode }) => ({ status, errorCode }))
    .toReversed()
}

const LOST_THEN_DONE = [
  { status: 'failed', errorCode: 'WorkerLost' },
  { status: 'succeeded', errorCode: null },
]

test.concurrent('a worker killed in the middle of applying leaves nothing behind, and the next run does it all', async () => {
  await using harness = await openFerryHarness({ rules: 2000 })
  // The apply waits for this lock in the middle of its transaction, and dies there.
  const blocker = await harness.ferry.pool.connect()
  await blocker.query('begin')
  await blocker.query('lock table ferry.alert_rule_versions in share mode')
  const worker = startSync(harness)
  await waitFor(
    async () =>
      (
        await harness.query(
          "select 1 from pg_stat_activity where datname = current_database() and query like 'copy %' and wait_event_type = 'Lock'",
        )
      ).length === 1,
    { what: 'the worker to be applying' },
  )
  worker.kill('SIGKILL')
  await once(worker, 'exit')
  await blocker.query('commit')
  blocker.release()

  const { result, startedAfterS } = await syncOnceFree(harness)
  expect(result).toMatchObject({ status: 'succeeded', added: 2000 })
  expect(startedAfterS).toBeLessThan(10)
  expect(await endsOf(harness)).toEqual(LOST_THEN_DONE)
  expect(await harness.query('select distinct opened_by_run from ferry.alert_rule_versions')).toEqual([
    { opened_by_run: `${result.run}` },
  ])
})

test.concurrent('a worker suspended past its lease finds its work refused', async () => {
  await using harness = await openFerryHarness({ rules: 50 })
  const reached = Promise.withResolvers<void>()
  const answer = Promise.withResolvers<undefined>()
  harness.sandbox.state.onCall(() => {
    reached.resolve()
    return answer.promise
  })
  const worker = startSync(harness)
  await reached.promise
  worker.kill('SIGSTOP')
  answer.resolve(undefined)
  harness.sandbox.state.onCall(null)

  const { result } = await syncOnceFree(harness)
  expect(result).toMatchObject({ status: 'succeeded', added: 50 })
  const told = once(worker, 'message')
  worker.kill('SIGCONT')
  const [message] = await told
  expect(message).toEqual({ status: 'failed', errorCode: 'LeaseLost' })
  expect(await endsOf(harness)).toEqual(LOST_THEN_DONE)
  expect(await harness.query('select count(*)::int as n from ferry.alert_rule_versions')).toEqual([{ n: 50 }])
})

test.concurrent('of two workers at once one works and the other is skipped', async () => {
  await using harness = await openFerryHarness({ rules: 50 })
  harness.sandbox.state.inject({ kind: 'late', ms: 500 }, { nth: 1 })
  const results = await Promise.all([harness.sync(), harness.sync()])
  expect(results.map(result => result.status).sort()).toEqual(['skipped', 'succeeded'])
  expect(await harness.query('select count(*)::int as n from ferry.alert_rule_versions')).toEqual([{ n: 50 }])
})
