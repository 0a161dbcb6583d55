import { expect, test } from 'vitest'
import { cancelImport } from '#src/imports/control/decide.ts'
import { loadPace } from '#src/imports/reporting/pace.ts'
import {
  findSummaryRow,
  type ImportFilter,
  listSummaryRows,
  loadSummary,
  pauseReportOf,
} from '#src/imports/reporting/summary.ts'
import { listWaitingRows, waitsFor } from '#src/imports/reporting/waits-for.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { ADA } from '#test/support/acted-by.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

test('batches to come are as small as the platform takes them', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 10, batchRows: 5 })
  expect(await loadSummary(store.pool, id)).toMatchObject({ batches: 2 })
  await store.pool.query('update ferry.imports set max_rows = 2')
  expect(await loadSummary(store.pool, id)).toMatchObject({ batches: 5 })
  expect(await loadPace(store.pool, id)).toMatchObject({ batchesLeft: 5, batchRows: 2 })
})

test('an import that waits to be confirmed took as long as its staging', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { status: 'staging' })
  await store.pool.query(
    `update ferry.imports set staged_at = staged_at - interval '1 hour', created_at = staged_at - interval '61 minutes'`,
  )
  expect(await loadSummary(store.pool, id)).toMatchObject({ durationMs: 60_000 })
})

test('an import that was paused and is cancelled is not paused', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { status: 'paused' })
  expect(pauseReportOf(await findSummaryRow(store.pool, id))).not.toBeNull()
  await cancelImport(store.pool, id, ADA)
  expect(pauseReportOf(await findSummaryRow(store.pool, id))).toBeNull()
  expect(waitsFor(await findSummaryRow(store.pool, id))).toBeNull()
})

test('a cancelled import waits for a decision about uncertain rows until it is purged; those before one are older', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { status: 'undecided' })
  await cancelImport(store.pool, id, ADA)
  expect(await listWaitingRows(store.pool, 9)).toMatchObject([{ id: `${id}` }])
  const waits = async () => waitsFor(await findSummaryRow(store.pool, id))
  expect(await waits()).toMatchObject({ decision: 'resolve' })
  await store.pool.query('update ferry.imports set purged_at = now()')
  expect(await listWaitingRows(store.pool, 9)).toEqual([])
  expect(await waits()).toBeNull()
  const next = await stageRows(store.pool, {})
  expect(await listSummaryRows(store.pool, 9, { before: next })).toMatchObject([{ id: `${id}` }])
})

test('an import is listed as waiting if there are words for what it waits for, and only then', async () => {
  await using store = await openTestStore()
  const ended = "case when status in ('completed', 'cancelled') then now() end"
  for (const status of IMPORT_STATUSES) {
    for (const set of [
      'uncertain = 0',
      'uncertain = 2',
      'uncertain = 2, purged_at = now()',
      'staged_at = null',
    ]) {
      const id = await stageRows(store.pool, {})
      await store.pool.query(`update ferry.imports set status = $2, ${set} where id = $1`, [id, status])
      await store.pool.query(`update ferry.imports set finished_at = ${ended} where id = $1`, [id])
    }
  }
  const all = await listSummaryRows(store.pool, 99)
  const worded = all.filter(row => waitsFor(row) !== null).map(({ id }) => Number(id))
  const listed = (await listWaitingRows(store.pool, 99)).map(({ id }) => Number(id))
  expect(listed).toEqual(worded.toSorted((a, b) => a - b))
  expect(listed.length).toBeGreaterThan(5)
})

test('imports are listed by account, by status, and from a moment on, that moment included', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const status = 'paused'
  for (const staged of [{}, { status }, { account: 'other', status }, { account: 'other' }] as const) {
    await stageRows(pool, staged)
  }
  await pool.query(
    `update ferry.imports set created_at = '2026-03-01T12:00:00Z'::timestamptz + id * interval '1 s'`,
  )
  const listed = async (filter: ImportFilter, limit = 9) =>
    (await listSummaryRows(pool, limit, filter)).map(({ id }) => Number(id))
  const since = new Date('2026-03-01T12:00:03Z')
  expect(await listed({})).toEqual([4, 3, 2, 1])
  expect(await listed({}, 3)).toEqual([4, 3, 2])
  expect(await listed({ account: 'other' })).toEqual([4, 3])
  expect(await listed({ status })).toEqual([3, 2])
  expect(await listed({ since })).toEqual([4, 3])
  expect(await listed({ since: new Date(since.getTime() + 1) })).toEqual([4])
  expect(await listed({ before: 3n })).toEqual([2, 1])
  expect(await listed({ account: 'other', status, since, before: 4n })).toEqual([3])
})
