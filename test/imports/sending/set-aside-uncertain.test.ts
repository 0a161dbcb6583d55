import { expect, test } from 'vitest'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { reclaimImport } from '#src/imports/sending/reclaim.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { ledgerOf, rowsUnaccounted } from '#test/support/import-ledger.ts'
import {
  ACCEPTED,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  refused,
  type ScriptedWorker,
  TOO_LARGE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { start } from './start-import.ts'

/* Rows that were set aside before a call whose outcome is unknown were not in it: nothing that is found out about it is true of them. */

const BLAMED = naming('p3@example.com')

async function pauseAndGoOn(store: TestStore, id: bigint): Promise<void> {
  await pauseImport(store.pool, id, ADA)
  await resumeImport(store.pool, id, ADA)
  await start(store, id)
}

/** The third row alone is still to be sent, and is sent once. */
async function expectThirdLeft(store: TestStore, worker: ScriptedWorker, sent: number): Promise<void> {
  const { importId } = worker.context
  expect(await loadSummary(store.pool, importId)).toMatchObject({
    sent,
    rejected: 0,
    uncertain: 0,
    pending: 1,
  })
  expect(await rowsUnaccounted(store.pool)).toEqual([])
  await worker.send(await worker.claim(), ACCEPTED)
  expect(await worker.tryClaim()).toBeNull()
  expect(await loadSummary(store.pool, importId)).toMatchObject({ sent: sent + 1, pending: 0 })
  const last = await store.pool.query(
    `select rows, from_line::int, to_line::int from ferry.import_batches where state = 'sent' order by call_id desc nulls last limit 1`,
  )
  expect(last.rows).toEqual([{ rows: 1, from_line: 3, to_line: 3 }])
}

test('an acceptance that comes late, after a pause, is none of a row that was set aside', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await using worker = await openScriptedWorker(store.pool, id)
  await worker.send(await worker.claim(), BLAMED)
  const claim = await worker.claim()
  await ageImport(store.pool, id, '1 hour')
  expect(await reclaimImport(store.pool, id)).toBe(1)
  await pauseAndGoOn(store, id)
  await worker.send(claim, ACCEPTED)
  await expectThirdLeft(store, worker, 2)
})

test('what a person finds out after a pause is not true of a row that was set aside', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await using worker = await openScriptedWorker(store.pool, id)
  for (const answer of [BLAMED, LOST]) await worker.send(await worker.claim(), answer)
  await pauseAndGoOn(store, id)
  expect(await resolveUncertain(store.pool, id, 'sent', ADA)).toMatchObject({ rows: 2 })
  await expectThirdLeft(store, worker, 2)
})

test('nor when the batch was divided since', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  for (const answer of [BLAMED, LOST, BAD_ROWS]) await worker.send(await worker.claim(), answer)
  await pauseImport(store.pool, id, ADA)
  expect(await resolveUncertain(store.pool, id, 'sent', ADA)).toMatchObject({ rows: 3 })
  await resumeImport(store.pool, id, ADA)
  await start(store, id)
  await expectThirdLeft(store, worker, 3)
})

test('nor when smaller batches are asked for meanwhile', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 8, batchRows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  const [first, second] = [await worker.claim(), await worker.claim()]
  await worker.send(first, LOST)
  await worker.send(await worker.claim(), BLAMED)
  await worker.send(second, TOO_LARGE)
  for (let sent = 0; sent < 4; sent += 2) await worker.send(await worker.claim(), ACCEPTED)
  await worker.release(await worker.claim())
  await pauseImport(store.pool, id, ADA)
  expect(await resolveUncertain(store.pool, id, 'sent', ADA)).toMatchObject({ rows: 3 })
  await resumeImport(store.pool, id, ADA)
  await start(store, id)
  await expectThirdLeft(store, worker, 7)
})

test('a row set aside before a call whose outcome is unknown is not uncertain once the rest is accepted', async () => {
  await using store = await openTestStore()
  // Of another import, and after the batch, are rows with its lines and others: they stay what they are.
  await stageRows(store.pool, { rows: 9, pageId: 9n })
  const id = await stageRows(store.pool, { rows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  // A code that may mean the page: the row is sent alone after the rest.
  const named = refused(400, 'BadRequest', { message: 'p3@example.com is not there' })
  for (const answer of [named, LOST, ACCEPTED]) await worker.send(await worker.claim(), answer)
  expect(await ledgerOf(store.pool, id)).toMatchObject([
    { state: 'sent', resends: 1, uncertain: false },
    { state: 'ready', resends: 0, uncertain: false },
    { state: 'sent', resends: 1, uncertain: false },
    { state: 'sent', resends: 1, uncertain: false },
  ])
  expect(await loadSummary(store.pool, id)).toMatchObject({ sent: 3, pending: 1, rejected: 0 })
  expect(await rowsUnaccounted(store.pool)).toEqual([])
})

test('a row that was in the call is uncertain also if it was set aside after it', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const named = refused(400, 'BadRequest', { message: 'p3@example.com is not there' })
  for (const answer of [LOST, named, ACCEPTED]) await worker.send(await worker.claim(), answer)
  expect(await ledgerOf(store.pool, id)).toMatchObject([
    { state: 'sent', uncertain: false },
    { state: 'ready', resends: 1, uncertain: true },
  ])
})

test('a worker of 0.2.0, which writes that a batch is split before it asks for it, loses no row', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4 })
  await using worker = await openScriptedWorker(store.pool, id)
  for (const answer of [LOST, BLAMED]) await worker.send(await worker.claim(), answer)
  await store.pool.query(
    `with written as (update ferry.import_batches set state = 'split' where import_id = $1 returning id)
     select ferry_internal.split_batch(id) from written`,
    [id],
  )
  expect(await rowsUnaccounted(store.pool)).toEqual([])
})
