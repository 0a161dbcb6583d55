import { once } from 'node:events'
import { expect, test } from 'vitest'
import { pollAlertRules } from '#jobs/poll-alert-rules.ts'
import { pollMcpServers } from '#jobs/poll-mcp-servers.ts'
import { listRuns } from '#src/inventory/runs/list-runs.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import { ADA } from '#test/support/acted-by.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { leasesOf } from '#test/support/leases.ts'
import { listSlots } from '#test/support/slots.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { openCli } from '../cli/open-cli.ts'
import { startWorker } from './start-worker.ts'

/** Nothing but the poll. */
const POLLS = { jobs: [pollAlertRules] }

/** The poll happens once, when the worker starts. */
const RARELY = { FERRY_POLL_EVERY: '500h' }

/** The first run first. */
const runsOf = async (harness: FerryHarness) => (await listRuns(harness.ferry.pool, 99)).toReversed()
const slotsOf = async (harness: FerryHarness) =>
  (await listSlots(harness.ferry.pool)).filter(slot => slot.schedule === pollAlertRules.name)

test('keeps the alert rules current, one run a slot', async () => {
  await using harness = await openFerryHarness({ rules: 5 }, { FERRY_POLL_EVERY: '1s' })
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await runsOf(harness)).length >= 1, { what: 'the first poll' })
  harness.sandbox.state.addRule({ name: 'added while Ferry ran' })
  const added = () => harness.query(`select 1 from ferry.alert_rules where name = 'added while Ferry ran'`)
  await waitFor(async () => (await added()).length === 1, { what: 'the new rule' })
  const runs = await runsOf(harness)
  expect(new Set(runs.map(run => run.trigger))).toEqual(new Set(['schedule']))
  expect(new Set(runs.map(run => run.slot!.getTime())).size).toBe(runs.length)
})

test('is skipped while a person syncs by hand', async () => {
  await using harness = await openFerryHarness({ rules: 5 }, RARELY)
  const answer = Promise.withResolvers<undefined>()
  const called = Promise.withResolvers<void>()
  harness.sandbox.state.onCall(() => {
    called.resolve()
    return answer.promise
  })
  const byHand = harness.sync()
  await called.promise
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the poll to be skipped' })
  answer.resolve(undefined)
  expect((await byHand).status).toBe('succeeded')
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'skipped' }])
  expect((await runsOf(harness)).map(run => run.status)).toEqual(['succeeded', 'skipped'])
})

test('goes on once the lease is over when its worker was killed', async () => {
  await using cli = await openCli({ rules: 5 }, RARELY)
  // A worker in a process of its own does every job, and begins with a snapshot and a poll of the MCP servers.
  const others = ['snapshot-inventory', pollMcpServers.name]
  await pauseSchedules(
    cli.ferry.pool,
    others.map(schedule => ({ schedule, account: 'default' })),
    ADA,
  )
  await using worker = await hangingWorker(cli, () => cli.ferryStart('worker'))
  worker.child.kill('SIGKILL')
  await once(worker.child, 'exit')
  const lease = (await leasesOf(cli.ferry.pool)).find(({ name }) => name.startsWith('sync:'))
  cli.sandbox.state.clearFaults()

  await using _other = await startWorker(cli.ferry, POLLS)
  await waitFor(async () => (await slotsOf(cli))[0]?.outcome, { what: 'the next run' })
  expect(await runsOf(cli)).toMatchObject([
    { status: 'failed', errorCode: 'WorkerLost' },
    { status: 'succeeded', trigger: 'schedule' },
  ])
  const [, next] = await runsOf(cli)
  expect(next!.startedAt.getTime()).toBeGreaterThanOrEqual(lease!.expiresAt.getTime())
})

test('is given back when its worker is told to stop, and another does it', async () => {
  await using harness = await openFerryHarness({ rules: 5 }, RARELY)
  await using first = await hangingWorker(harness, () => startWorker(harness.ferry, POLLS))
  await first.drain(5_000)
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 0, outcome: null }])
  expect(await runsOf(harness)).toMatchObject([{ status: 'failed', errorCode: 'Interrupted' }])
  harness.sandbox.state.clearFaults()

  await using _second = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the second worker' })
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
})

test('is not tried again when it failed: the next slot comes soon enough', async () => {
  await using harness = await openFerryHarness({ rules: 5 }, RARELY)
  harness.sandbox.state.inject({ kind: 'error', code: 'InvalidParameter' })
  await using _worker = await startWorker(harness.ferry, POLLS)
  await waitFor(async () => (await slotsOf(harness))[0]?.outcome, { what: 'the poll to fail' })
  expect(await slotsOf(harness)).toMatchObject([{ attempts: 1, outcome: 'failed' }])
})

/** Starts a worker whose first poll the platform never answers, and returns it once it waits. */
async function hangingWorker<T>(harness: FerryHarness, start: () => T | Promise<T>): Promise<T> {
  harness.sandbox.state.inject({ kind: 'hang' })
  const worker = await start()
  const waiting = () => harness.sandbox.state.received.length === 1
  await waitFor(waiting, { what: 'the poll to wait for the platform' })
  return worker
}
