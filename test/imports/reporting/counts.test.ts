import fc from 'fast-check'
import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { missingOf } from '#src/model/import.ts'
import { type PutBatch, putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const PLACES = ['recipient', 'rejected', 'duplicate', 'suppressed', 'already imported'] as const
type Place = (typeof PLACES)[number]

const Batch = fc.record({
  lines: fc.integer({ min: 1, max: 4 }),
  state: fc.constantFrom(
    'ready',
    'in flight',
    'sent',
    'uncertain',
    'rejected',
    'doubted',
    'left out',
    'split',
  ),
  uncertain: fc.boolean(),
  claimEndsInMs: fc.constantFrom(-60_000, 60_000),
})

/** Moves each row to its place, as staging and sending do. */
async function placeRows(pool: Pool, id: bigint, places: readonly Place[]): Promise<void> {
  for (const [index, place] of places.entries()) {
    if (place === 'recipient') continue
    const line = index + 2
    await pool.query('delete from ferry.import_recipients where import_id = $1 and line = $2', [id, line])
    await (place === 'rejected'
      ? pool.query(
          `insert into ferry.import_rejects (import_id, line, origin, reason, message) values ($1, $2, 'file', 'r', 'm')`,
          [id, line],
        )
      : pool.query(
          'insert into ferry.import_left_out (import_id, line, kind, reason) values ($1, $2, $3, $3)',
          [id, line, place],
        ))
    const count = place.replace(' ', '_')
    await pool.query(
      `update ferry.imports set recipients = recipients - 1, ${count} = ${count} + 1 where id = $1`,
      [id],
    )
  }
}

/** The platform rejects all rows of a batch that ended so. */
async function rejectRows(pool: Pool, id: bigint): Promise<void> {
  await pool.query(
    `with rejected as (
       delete from ferry.import_recipients r using ferry.import_batches b
       where r.import_id = $1 and b.import_id = $1 and b.state = 'rejected'
         and r.line between b.from_line and b.to_line returning r.line, b.id
     ), moved as (
       insert into ferry.import_rejects (import_id, line, origin, reason, message, batch_id)
       select $1, line, 'platform', 'r', 'm', id from rejected
     )
     update ferry.imports set recipients = recipients - r.rows, rejected = rejected + r.rows
     from (select count(*) as rows from rejected) r where id = $1`,
    [id],
  )
  await pool.query(`update ferry.import_batches set rows = 0 where import_id = $1 and state = 'rejected'`, [
    id,
  ])
}

test('whatever the mix of rows and batches, the counts add up, and those of sums are those of rows', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.constantFrom(...PLACES), { minLength: 1, maxLength: 20 }),
      fc.array(Batch, { maxLength: 8 }),
      async (places, drawn) => {
        const id = await stageRows(pool, { rows: places.length, status: 'running', batchRows: 3 })
        await placeRows(pool, id, places)
        await putBatches(pool, id, fitting(drawn, places.length))
        await rejectRows(pool, id)

        const summary = await loadSummary(pool, id)
        expect(missingOf(summary)).toBe(0)
        expect(Math.min(summary.pending, summary.uncertain, summary.sent)).toBeGreaterThanOrEqual(0)
        const { differences, summary: recounted } = await reportImport(pool, id)
        expect(differences).toEqual([])
        expect({ ...recounted, durationMs: 0 }).toEqual({ ...summary, durationMs: 0 })
      },
    ),
    { numRuns: 60 },
  )
})

/** Batches reach no farther than the file. */
function fitting(batches: readonly PutBatch[], lines: number): PutBatch[] {
  let left = lines
  return batches.flatMap(batch => {
    const reach = Math.min(batch.lines ?? 1, left)
    if (batch.state !== 'split') left -= reach
    return reach > 0 ? [{ ...batch, lines: reach }] : []
  })
}

test('a row that got lost, or is there twice, is reported', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 6, status: 'running' })
  await putBatches(store.pool, id, [{ lines: 3, state: 'sent' }])
  await store.pool.query('delete from ferry.import_recipients where line = 3')
  expect((await reportImport(store.pool, id)).differences).toEqual([
    '6 rows were read, and 5 are accounted for',
    'sent: the rows give 2, the kept count is 3',
  ])
  await store.pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select import_id, line, 'file', 'r', 'm' from ferry.import_recipients where line in (4, 5)`,
  )
  expect((await reportImport(store.pool, id)).differences[0]).toBe(
    '6 rows were read, and 7 are accounted for',
  )
})

test('a row that no batch covers is missing, though it is in the table', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 6, status: 'running' })
  await putBatches(store.pool, id, [{ lines: 3, state: 'sent' }])
  await store.pool.query('update ferry.imports set batched_to = 5')
  expect((await reportImport(store.pool, id)).differences).toEqual([
    '6 rows were read, and 5 are accounted for',
    'pending: the rows give 2, the kept count is 3',
  ])
})
