import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { ImportContext } from '#src/imports/context.ts'
import { cancelImport, pauseImport } from '#src/imports/control/decide.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { reclaimExpired } from '#src/imports/sending/reclaim.ts'
import type { PlatformClient } from '#src/platform/client.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { removeLeases, takeOverLeases } from '#test/support/leases.ts'
import { BAD_ROWS, LOST, openScriptedWorker, sendBatches } from '#test/support/scripted-worker.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { type ImportHarness, openImportHarness, recipientsOf } from '../import-harness.ts'
import { claimerOf } from './claimer.ts'

/** Leaves the import's next batch in flight, as a worker does that dies; an hour passes. */
async function dieInFlight(
  { ferry: { pool } }: ImportHarness,
  id: bigint,
  before: 'sending' | 'recording',
): Promise<void> {
  await using worker = await openScriptedWorker(pool, id)
  const claim = await worker.claim()
  if (before === 'sending') await worker.returnPermit(claim)
  await ageImport(pool, id, '1 hour')
}

test('a batch whose worker died before it had a permit was never sent', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
  await dieInFlight(harness, id, 'sending')
  expect(await harness.work(id)).toBe('completed')
  expect(await harness.batches(id)).toMatchObject([{ state: 'sent', resends: 0 }])
})

test('a batch whose worker died with a permit is sent again, and the ledger says so', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  await dieInFlight(harness, id, 'recording')
  expect(await harness.work(id)).toBe('completed')
  expect(await harness.batches(id)).toMatchObject([{ state: 'sent', resends: 1, uncertain: false }])
})

test('a batch whose worker died with a permit is held if the import wants that', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
  await dieInFlight(harness, id, 'recording')
  expect(await harness.work(id)).toBe('undecided')
  expect(await harness.batches(id)).toMatchObject([{ state: 'uncertain', resends: 0, uncertain: true }])
  expect(harness.calls()).toBe(0)
})

test('a batch of uncertain outcome stays so when the worker that was to send it again dies before it did', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  await sendBatches(harness.ferry.pool, id, [LOST])
  await dieInFlight(harness, id, 'sending')
  expect(await reclaimExpired(harness.ferry.pool)).toBe(1)
  expect(await harness.batches(id)).toMatchObject([{ state: 'ready', uncertain: true, resends: 1 }])
  expect(await loadSummary(harness.ferry.pool, id)).toMatchObject({ uncertain: 3, pending: 0 })
})

test('what was uncertain, and how often it was sent again, holds for both halves of a batch that is split', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 5, batchRows: 5 })
  await sendBatches(harness.ferry.pool, id, [LOST, LOST, BAD_ROWS])
  const half = { state: 'ready', uncertain: true, resends: 2 }
  expect(await harness.batches(id)).toMatchObject([half, half])
  expect(await loadSummary(harness.ferry.pool, id)).toMatchObject({ uncertain: 5, pending: 0 })
})

test('a claim lives for as long as its call may take, and then until the platform must have counted it', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '60s' })
  const id = await harness.stage({ rows: 3 })
  const lives: unknown[] = []
  harness.sandbox.state.onCall(async () => {
    lives.push(
      ...(await harness.query(
        `select extract(epoch from claim_ends_at - claimed_at)::float8 * 1000 as ms from ferry.import_batches`,
      )),
    )
    return undefined
  })
  await harness.work(id)
  // FERRY_REQUEST_TIMEOUT and FERRY_ARRIVAL_BOUND
  expect(lives).toEqual([{ ms: 60_500 }])
})

test('a row larger than a megabyte travels alone', async () => {
  await using harness = await openImportHarness({}, { FERRY_REQUEST_TIMEOUT: '20s' })
  const recipient = (line: number) =>
    line === 3 ? `${'x'.repeat(1_100_000)}@example.com` : `p${line}@example.com`
  const id = await harness.stage({ rows: 10, batchRows: 2, recipient })
  const isRefused = async () => (await harness.batches(id)).some(batch => batch.error_code !== null)
  harness.sandbox.state.onCall(async ({ body }) => {
    // At most four calls are under way. So the last one begins once the large row was refused, and its outcome shows that
    // the page is not to blame.
    if (harness.calls() > 1 && recipientsOf(body).length > 1)
      await waitFor(isRefused, { what: 'the large row to be refused' })
    return undefined
  })
  expect(await harness.work(id)).toBe('completed')
  expect((await harness.batches(id)).map(batch => batch.from_line)).toEqual(['2', '3', '4', '6', '8', '10'])
  // Nothing else is set back because the platform does not want that one.
  expect(await harness.rejects(id)).toMatchObject([{ line: '3' }])
  expect(harness.timesDelivered()).toEqual({ once: 9 })
})

test('the first rows are counted as they were asked for, however batches are split and rows rejected', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 30, batchRows: 6, firstRows: 10 })
  harness.sandbox.state.onCall(({ body }) => {
    const recipients = recipientsOf(body)
    if (recipients.length > 5) return { kind: 'error', code: 'EntityTooLarge' }
    return recipients.includes('p3@example.com')
      ? { kind: 'error', code: 'InvalidParameter', message: 'p3@example.com is not valid' }
      : undefined
  })
  expect(await harness.work(id)).toBe('paused')
  expect(await harness.importRow(id)).toMatchObject({ pause_code: 'FirstRowsSent' })
  expect(await loadSummary(harness.ferry.pool, id)).toMatchObject({ sent: 9, rejected: 1, pending: 20 })
})

test('a claim is not touched before its time is over, and the import does not end without it', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  const before = performance.now()
  {
    await using worker = await openScriptedWorker(harness.ferry.pool, id, { claimMs: 1_200 })
    await worker.claim()
  }
  expect(await harness.work(id)).toBe('completed')
  expect(performance.now() - before).toBeGreaterThan(1_000)
})

test('of two claims of an import only the one that has expired is ended', async () => {
  await using harness = await openImportHarness()
  const { pool } = harness.ferry
  const id = await harness.stage({ rows: 2, batchRows: 1 })
  await using worker = await openScriptedWorker(pool, id)
  await worker.claim()
  await worker.claim()
  await harness.query(
    "update ferry.import_batches set claim_ends_at = clock_timestamp() - interval '1 s' where from_line = 2",
  )
  expect(await reclaimExpired(pool)).toBe(1)
  expect(await harness.batches(id)).toMatchObject([{ state: 'ready' }, { state: 'in flight' }])
})

test('what a dead worker left in flight is reclaimed whatever became of the import', async () => {
  await using harness = await openImportHarness()
  for (const [pageId, stop, onUncertain, state] of [
    [1n, pauseImport, 'resend', 'ready'],
    [2n, pauseImport, 'hold', 'uncertain'],
    [3n, cancelImport, 'resend', 'uncertain'],
  ] as const) {
    const id = await harness.stage({ rows: 3, onUncertain, pageId })
    await dieInFlight(harness, id, 'recording')
    await stop(harness.ferry.pool, id, ADA)
    expect(await reclaimExpired(harness.ferry.pool)).toBe(1)
    expect(await harness.batches(id)).toMatchObject([{ state, uncertain: true }])
  }
  expect(await reclaimExpired(harness.ferry.pool)).toBe(0)
})

test('an answer that comes after the claim was reclaimed says what became of the batch, if it was not sent again', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  harness.sandbox.state.onCall(async ({ number }) => {
    if (number > 1) return undefined
    await ageImport(harness.ferry.pool, id, '1 hour')
    await reclaimExpired(harness.ferry.pool)
    return undefined
  })
  expect(await harness.work(id)).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 3 })
  expect(await harness.batches(id)).toMatchObject([{ state: 'sent', resends: 0 }])
  expect(await harness.query('select http_status from ferry.platform_calls')).toEqual([{ http_status: 200 }])
  expect(await harness.importRow(id)).toMatchObject({ accepted: 1 })
})

test('a permit that expired before anything was sent is returned, and another one acquired', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3, onUncertain: 'hold' })
  const end = await slowly(harness, id, async () => {})
  expect(end).toBe('completed')
  expect(harness.timesDelivered()).toEqual({ once: 3 })
  const [batch] = await harness.batches(id)
  expect(await harness.query('select id from ferry.platform_calls')).toEqual([{ id: batch!.call_id }])
  expect(batch!.call_id).not.toBe('1')
})

test('who pauses an import while a permit expires keeps the batch from being sent', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  const end = await slowly(harness, id, () => pauseImport(harness.ferry.pool, id, ADA))
  expect(end).toBe('paused')
  expect(harness.calls()).toBe(0)
  expect(await harness.batches(id)).toMatchObject([
    { state: 'ready', call_id: null, resends: 0, uncertain: false },
  ])
  expect(await harness.query('select 1 from ferry.platform_calls')).toEqual([])
})

test('who lost its lease while a permit expired sends nothing', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 3 })
  const end = await slowly(harness, id, () => takeOverLeases(harness.ferry.pool))
  expect(end).toBe('busy')
  expect(harness.calls()).toBe(0)
  await removeLeases(harness.ferry.pool)
  expect(await harness.work(id)).toBe('completed')
})

test('with all connections cut in the middle everybody is sent once, and the ledger knows', async () => {
  await using harness = await openImportHarness()
  const id = await harness.stage({ rows: 10, batchRows: 1 })
  harness.sandbox.state.onCall(async ({ number }) => {
    if (number === 2 || number === 5) {
      await harness.query(
        `select pg_terminate_backend(pid) from pg_stat_activity
         where datname = current_database() and pid <> pg_backend_pid()`,
      )
    }
    return undefined
  })
  expect(await harness.work(id)).toBe('completed')
  const resent = (await harness.batches(id)).filter(batch => batch.resends > 0).length
  expect(harness.timesDelivered().once).toBeGreaterThanOrEqual(10 - resent)
  expect(harness.delivered().size).toBe(10)
})

test('of imports that wait for a permit the one served longest ago goes first, as long as it asks', async () => {
  await using harness = await openImportHarness()
  const limit = { limitKey: 'account:test', windows: [{ maxCalls: 1, windowMs: 30_000 }] }
  const [first, second] = [await claimerOf(harness, 'one', limit), await claimerOf(harness, 'two', limit)]
  expect(await first.claim()).toBe('claimed')
  expect([await second.claim(), await first.claim()]).toEqual(['wait', 'wait'])
  await first.leaveWindow()
  expect([await first.claim(), await second.claim()]).toEqual(['wait', 'claimed'])
  await second.leaveWindow()
  expect(await first.claim()).toBe('claimed')

  expect(await second.claim()).toBe('wait')
  await first.leaveWindow()
  await second.leaveWindow()
  expect(await first.claim()).toBe('claimed')
})

test('what other settings recorded under another key keeps an import waiting, unless a person stops it', async () => {
  await using harness = await openImportHarness()
  const windows = [{ maxCalls: 5, windowMs: 30_000 }]
  const before = await claimerOf(harness, 'one', { limitKey: 'account:one', windows })
  expect(await before.claim()).toBe('claimed')
  const limit = { limitKey: 'account:group', windows, accounts: ['one', 'two'] }
  const after = await claimerOf(harness, 'two', limit)
  expect(await after.claim()).toBe('wait')
  await before.leaveWindow()
  expect(await after.claim()).toBe('claimed')
  expect(await before.claim()).toBe('claimed')
  expect(await after.claim()).toBe('wait')
  await pauseImport(harness.ferry.pool, after.importId, ADA)
  expect(await after.claim()).toBe('ended')
})

/** Works on an import with a worker that does `meanwhile` between its claim and its call, until its permit has expired. */
async function slowly(harness: ImportHarness, id: bigint, meanwhile: () => Promise<unknown>) {
  const context: ImportContext = harness.ferry
  const account = context.accounts.get('default')!
  const client: PlatformClient = {
    ...account.client,
    async importSubscribers(batch, call) {
      await meanwhile()
      await delay(harness.ferry.arrivalBoundMs / 5 + 50)
      return account.client.importSubscribers(batch, call)
    },
  }
  const accounts = new Map([['default', { ...account, client }]])
  return harness.work(id, { ferry: { ...context, accounts } })
}
