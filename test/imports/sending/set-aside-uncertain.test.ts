import { expect, test } from 'vitest'
import { pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { reclaimImport } from '#src/imports/sending/reclaim.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { rowsUnaccounted } from '#test/support/import-ledger.ts'
import {
  ACCEPTED,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  type ScriptedWorker,
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
    `select rows, from_line::int, to_line::int from ferry.import_batches where state = 'sent' order by call_id desc limit 1`,
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
