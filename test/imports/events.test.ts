import { expect, test } from 'vitest'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { ADA } from '#test/support/acted-by.ts'
import { sendAll, UNAUTHORIZED } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

function told({ pool }: TestStore) {
  return pool
    .query('select kind, state, account, subject, data from ferry.events order by id')
    .then(({ rows }) => rows.map(({ kind, state }) => `${kind} ${state}`))
}

test('a pause by the platform is told with its code, and that it is over with the resumption', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 2 })
  await sendAll(pool, id, UNAUTHORIZED)
  const { rows } = await pool.query('select account, subject, data from ferry.events')
  expect(rows).toEqual([
    {
      account: expect.any(String),
      subject: `${id}`,
      data: { import: `${id}`, page: expect.any(String), code: 'Unauthorized', requestId: expect.anything() },
    },
  ])
  await resumeImport(pool, id, ADA)
  await sendAll(pool, id)
  expect(await told(store)).toEqual([
    'import.paused raised',
    'import.paused resolved',
    'import.completed raised',
  ])
})

test('a paused import that is cancelled waits for nobody any more', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { status: 'paused' })
  await cancelImport(store.pool, id, ADA)
  expect(await told(store)).toEqual(['import.paused raised', 'import.paused resolved'])
})

test('an undecided import is told until its last batch is decided', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { status: 'undecided', rows: 4, batchRows: 2 })
  expect(await told(store)).toEqual(['import.undecided raised'])
  const { rows } = await pool.query<{ id: string }>(
    `select id from ferry.import_batches where state = 'uncertain'`,
  )
  await resolveUncertain(pool, id, 'sent', ADA, { batchId: BigInt(rows[0]!.id) })
  expect(await told(store)).toEqual(['import.undecided raised'])
  await resolveUncertain(pool, id, 'sent', ADA)
  expect(await told(store)).toEqual([
    'import.undecided raised',
    'import.undecided resolved',
    'import.completed raised',
  ])
})

test('what is told of a status is undone with it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { status: 'queued' })
  await pool.query("alter table ferry.imports add constraint no_pause check (status <> 'paused') not valid")
  await expect(pauseImport(pool, id, ADA)).rejects.toThrow('no_pause')
  expect(await told(store)).toEqual([])
})
