import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { rejectRows } from '#src/imports/sending/reject-rows.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const FAULT = { code: 'InvalidParameter', message: 'No.', requestId: 'r' }

async function countsOf(store: TestStore) {
  const { rows } = await store.pool.query(
    `select recipients, rejected, rejected_by_platform as "byPlatform",
       (select count(*)::int from ferry.import_recipients r where r.import_id = i.id) as stored
     from ferry.imports i order by id`,
  )
  return rows
}

test('rows are rejected in their own import, and not on the same lines of another', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await stageRows(store.pool, { rows: 2, pageId: 1n })
  const [batch = 0n] = await putBatches(store.pool, id, [{ state: 'in flight' }])
  await store.pool.query('update ferry.import_batches set reasons = $1', [{ 2: FAULT }])
  await inTransaction(store.pool, client => rejectRows(client, id, { allOf: batch }))
  expect(await countsOf(store)).toEqual([
    { recipients: 1, rejected: 1, byPlatform: 1, stored: 1 },
    { recipients: 2, rejected: 0, byPlatform: 0, stored: 2 },
  ])
})

test('several rows that are rejected at once are all counted, and are gone from the batches around them', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4 })
  const [whole, half = 0n] = await putBatches(store.pool, id, [
    { lines: 4, state: 'split' },
    { lines: 3, state: 'in flight' },
  ])
  await store.pool.query(
    `update ferry.import_batches set parent_id = $2, set_aside = '{2,3}', reasons = $3 where id = $1`,
    [half, whole, { 2: FAULT, 3: FAULT }],
  )
  await inTransaction(store.pool, client => rejectRows(client, id, { provenOf: half }))
  expect(await countsOf(store)).toEqual([{ recipients: 2, rejected: 2, byPlatform: 2, stored: 2 }])
  const { rows } = await store.pool.query('select rows, set_aside from ferry.import_batches order by id')
  expect(rows).toEqual([
    { rows: 2, set_aside: [] },
    { rows: 1, set_aside: [] },
  ])
})
