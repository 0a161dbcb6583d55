import { expect, test } from 'vitest'
import { purgeImport, purgeOldImports } from '#src/imports/control/purge.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

type Store = Awaited<ReturnType<typeof openTestStore>>

const PERSON = 'kanarie'

/** A finished import with a person in every place that may hold one. */
async function finished(store: Store, daysAgo = 0): Promise<bigint> {
  const id = await stageRows(store.pool, {
    rows: 4,
    status: 'completed',
    recipient: line => `${PERSON}${line}@example.com`,
  })
  await putBatches(store.pool, id, [{ lines: 2, state: 'sent' }])
  await store.pool.query(
    `with moved as (delete from ferry.import_recipients where import_id = $1 and line in (4, 5) returning *),
     rejected as (
       insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash, raw)
       select import_id, line, 'platform', 'InvalidParameter', 'bad <recipient>', recipient_hash, raw
       from moved where line = 4
     )
     insert into ferry.import_left_out (import_id, line, kind, reason, recipient_hash, recipient)
     select import_id, line, 'suppressed', 'unsubscribed', recipient_hash, recipient from moved where line = 5`,
    [id],
  )
  await store.pool.query(
    `update ferry.imports set recipients = 2, rejected = 1, suppressed = 1, finished_at = now() - $2 * interval '1 day'
     where id = $1`,
    [id, daysAgo],
  )
  return id
}

async function everyRowOf(store: Store, id: bigint): Promise<string> {
  const tables = ['import_recipients', 'import_rejects', 'import_left_out', 'import_batches']
  const rows = await Promise.all([
    store.pool.query('select i::text as row from ferry.imports i where id = $1', [id]),
    ...tables.map(table =>
      store.pool.query(`select t::text as row from ferry.${table} t where import_id = $1`, [id]),
    ),
  ])
  return rows.flatMap(({ rows }) => rows.map(({ row }) => row)).join('\n')
}

async function hashesOf(store: Store, id: bigint): Promise<unknown[]> {
  const { rows } = await store.pool.query(
    `select line, recipient_hash from ferry.import_recipients where import_id = $1
     union select line, recipient_hash from ferry.import_rejects where import_id = $1
     union select line, recipient_hash from ferry.import_left_out where import_id = $1 order by line`,
    [id],
  )
  return rows
}

test('a purge removes every person and keeps numbers, hashes and the sum', async () => {
  await using store = await openTestStore()
  const id = await finished(store)
  const other = await finished(store)
  const [hashes, report] = [await hashesOf(store, id), await reportImport(store.pool, id)]
  expect(await everyRowOf(store, id)).toContain(PERSON)

  expect(await purgeImport(store.pool, id)).toBe(4)

  expect(await everyRowOf(store, id)).not.toContain(PERSON)
  expect(await hashesOf(store, id)).toEqual(hashes)
  const after = await reportImport(store.pool, id)
  expect(after.differences).toEqual([])
  expect(after.summary).toEqual(report.summary)
  expect(after.purgedAt).toBeInstanceOf(Date)
  expect(await purgeImport(store.pool, id)).toBe(0)
  expect((await reportImport(store.pool, id)).purgedAt).toEqual(after.purgedAt)
  expect(await everyRowOf(store, other)).toContain(PERSON)
})

test('imports that ended a month ago are purged, others are not', async () => {
  await using store = await openTestStore()
  const [old, young] = [await finished(store, 31), await finished(store, 29)]
  await stageRows(store.pool, { status: 'paused' })
  expect(await purgeOldImports(store.pool)).toBe(1)
  expect(await everyRowOf(store, old)).not.toContain(PERSON)
  expect(await everyRowOf(store, young)).toContain(PERSON)
  expect(await purgeOldImports(store.pool)).toBe(0)
})
