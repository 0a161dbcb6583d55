import { expect, test } from 'vitest'
import { JOBS } from '#jobs/index.ts'
import type { Job } from '#jobs/job.ts'
import { pollAlertRules } from '#jobs/poll-alert-rules.ts'
import { snapshotInventory } from '#jobs/snapshot-inventory.ts'
import { type FerryHarness, openFerryHarness } from '#test/support/ferry-harness.ts'
import { ageInstallation } from '#test/support/installation.ts'
import { endSlotPauses, listSlots } from '#test/support/slots.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { startWorker } from './start-worker.ts'

/** The nightly snapshot as it is, but due two minutes ago; and nothing else but the reconciler, which looks often. */
const NIGHT = new Date(Math.floor(Date.now() / 60_000 - 2) * 60_000)
const TONIGHT = { FERRY_NIGHTLY_CRON: `${NIGHT.getUTCMinutes()} ${NIGHT.getUTCHours()} * * *` }
const NIGHTLY = { jobs: [snapshotInventory], reconcileEveryMs: 200 }

const slotOf = async (harness: FerryHarness) => (await listSlots(harness.ferry.pool))[0]

async function openNight(): Promise<FerryHarness> {
  const harness = await openFerryHarness({ rules: 5, servers: 3 }, TONIGHT)
  await ageInstallation(harness.ferry.pool)
  return harness
}

test('takes one snapshot a night, of both inventories', async () => {
  await using harness = await openNight()
  await using _one = await startWorker(harness.ferry, NIGHTLY)
  await using _two = await startWorker(harness.ferry, NIGHTLY)
  await waitFor(async () => (await slotOf(harness))?.outcome, { what: 'the snapshot' })
  expect(await harness.query('select slot, status from ferry.snapshots')).toEqual([
    { slot: NIGHT, status: 'succeeded' },
  ])
  expect(await harness.query('select resource, trigger from ferry.sync_runs order by resource')).toEqual([
    { resource: 'alert-rules', trigger: 'catch-up' },
    { resource: 'mcp-servers', trigger: 'catch-up' },
  ])
})

test('tries five times, after 1, 2, 4 and 8 minutes, then gives the night up', async () => {
  await using harness = await openNight()
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { operation: 'list-alert-rules' })
  await using _worker = await startWorker(harness.ferry, NIGHTLY)
  const pauses: number[] = []
  for (const attempt of [1, 2, 3, 4]) {
    const pauseS = await waitFor(() => pauseAfter(harness, attempt), { what: `attempt ${attempt} to fail` })
    pauses.push(Math.round(pauseS / 60))
    await endSlotPauses(harness.ferry.pool)
  }
  await waitFor(async () => (await slotOf(harness))?.outcome, { what: 'the last attempt' })
  expect(pauses).toEqual([1, 2, 4, 8])
  expect(await slotOf(harness)).toMatchObject({ attempts: 5, outcome: 'failed', retry_at: null })
  expect(await harness.query('select * from ferry.snapshots')).toEqual([])
})

test('is tried again after a minute, without an attempt spent, when others had one of its inventories for too long', async () => {
  await using harness = await openNight()
  const skipped: Job = { name: snapshotInventory.name, run: async () => ({ status: 'skipped' }) }
  await using _worker = await startWorker(harness.ferry, { ...NIGHTLY, jobs: [skipped] })
  const pauseS = await waitFor(() => pauseAfter(harness, 0), { what: 'the attempt to be skipped' })
  expect(Math.round(pauseS / 60)).toBe(1)
})

test('takes the snapshot when the platform is back before the last attempt', async () => {
  await using harness = await openNight()
  harness.sandbox.state.inject({ kind: 'error', code: 'AccessDenied' }, { operation: 'list-mcp-servers' })
  await using _worker = await startWorker(harness.ferry, NIGHTLY)
  await waitFor(() => pauseAfter(harness, 1), { what: 'the first attempt to fail' })
  harness.sandbox.state.clearFaults()
  await endSlotPauses(harness.ferry.pool)
  await waitFor(async () => (await slotOf(harness))?.outcome, { what: 'the second attempt' })
  expect(await slotOf(harness)).toMatchObject({ attempts: 2, outcome: 'succeeded' })
  expect(await harness.query('select slot from ferry.snapshots')).toEqual([{ slot: NIGHT }])
})

test('takes the first snapshot at once where there was none, one for all workers, and none when they start again', async () => {
  await using harness = await openFerryHarness({ rules: 5, servers: 3 }, { FERRY_NIGHTLY_CRON: '0 0 1 1 *' })
  const taken = () => harness.query<{ status: string }>('select status from ferry.snapshots')
  {
    await using _one = await startWorker(harness.ferry, NIGHTLY)
    await using _two = await startWorker(harness.ferry, NIGHTLY)
    await waitFor(async () => (await slotOf(harness))?.outcome, { what: 'the snapshot' })
  }
  await using _again = await startWorker(harness.ferry, {
    ...NIGHTLY,
    jobs: [...NIGHTLY.jobs, pollAlertRules],
  })
  const polled = async () =>
    (await listSlots(harness.ferry.pool)).some(slot => slot.schedule === 'poll-alert-rules' && slot.done_at)
  await waitFor(polled, { what: 'the worker to work' })
  expect(await taken()).toEqual([{ status: 'succeeded' }])
})

test('is one of the jobs a worker does', () => {
  expect(JOBS).toContain(snapshotInventory)
})

/** How long the slot rests after this attempt, in seconds; undefined while that attempt is not over. */
async function pauseAfter(harness: FerryHarness, attempt: number): Promise<number | undefined> {
  const slot = await slotOf(harness)
  if (slot?.attempts !== attempt || !slot.retry_at) return undefined
  const seconds = (slot.retry_at.getTime() - Date.now()) / 1_000
  // While a worker does a slot, its retry_at is 18 s away at most.
  return seconds > 18 ? seconds : undefined
}
