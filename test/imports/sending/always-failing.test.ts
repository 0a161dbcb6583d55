import { expect, test } from 'vitest'
import { resumeImport } from '#src/imports/control/decide.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { loadRows } from '#src/imports/sending/batch-in-flight.ts'
import { reclaimImport } from '#src/imports/sending/reclaim.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { ledgerOf, rowsUnaccounted } from '#test/support/import-ledger.ts'
import { ACCEPTED, LOST, openScriptedWorker, refused } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

/* One row makes every call that has it fail, and nobody knows whether the platform took the rows. */

const FAILS = refused(500, 'InternalError')

/** Sends until nothing is left to claim, or the import is paused. Returns how many calls were made. */
async function sendWhatWorks(
  store: TestStore,
  id: bigint,
  poison: bigint,
  answer: typeof FAILS,
): Promise<number> {
  await using worker = await openScriptedWorker(store.pool, id)
  let calls = 0
  for (let claim = await worker.tryClaim(); claim; claim = await worker.tryClaim()) {
    const rows = await loadRows(store.pool, claim.batchId)
    await worker.send(claim, rows.some(({ line }) => line === poison) ? answer : ACCEPTED)
    calls += 1
  }
  return calls
}

test.each([
  ['500', FAILS],
  ['no answer', LOST],
] as const)('with %s, all others are sent, and it is left alone', async (_, answer) => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 40, batchRows: 10 })
  for (let resumed = 0; resumed < 4; resumed++) {
    if (resumed > 0) await resumeImport(store.pool, id, ADA)
    await sendWhatWorks(store, id, 15n, answer)
    expect(await rowsUnaccounted(store.pool)).toEqual([])
    const { status, sent, uncertain } = await loadSummary(store.pool, id)
    // After the first pause already, nothing but a part of its batch is left.
    expect([status, sent + uncertain]).toEqual(['paused', 40])
    if (resumed === 0) expect(uncertain).toBeLessThanOrEqual(5)
  }
  expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 39, uncertain: 1, pending: 0 })
  const left = (await ledgerOf(store.pool, id)).filter(({ state }) => state !== 'sent')
  expect(left).toMatchObject([{ recipient: 'p15@example.com', state: 'ready', uncertain: true }])
})

test('while nothing answers, no more than two batches become uncertain before the import is paused', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 40, batchRows: 10 })
  await using worker = await openScriptedWorker(store.pool, id)
  for (let calls = 0; calls < 10; calls++) await worker.send(await worker.claim(), LOST)
  expect(await worker.tryClaim()).toBeNull()
  expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'paused', uncertain: 20, pending: 20 })
})

test('an acceptance that comes late finds its batch, however often its outcome was unknown', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  for (let calls = 0; calls < 4; calls++) await worker.send(await worker.claim(), LOST)
  const claim = await worker.claim()
  await ageImport(store.pool, id, '1 hour')
  expect(await reclaimImport(store.pool, id)).toBe(1)
  await worker.send(claim, ACCEPTED)
  expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 4, uncertain: 0, pending: 0 })
})
