import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import {
  loadSuspectDetails,
  noteAsked,
  retrySuspects,
  retrySuspectsAmongSent,
} from '#src/imports/sending/suspects.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { start } from './start-import.ts'

/** A call that began after all of these. */
const LATER = 2n

/** Two imports to two pages, each with a row that the platform refused alone; the second one's was refused last. */
async function setup() {
  const store = await openTestStore()
  const ids: bigint[] = []
  for (const [n, errorCode] of ['InvalidParameter', 'BadRequest'].entries()) {
    const id = await stageRows(store.pool, { rows: 2, pageId: BigInt(n + 1) })
    await putBatches(store.pool, id, [{ lines: 1, state: 'suspect', errorCode }])
    ids.push(id)
  }
  await store.pool.query(
    `update ferry.import_batches set reasons = '{"2": {"message": "It is not valid.", "toCall": "1"}}'`,
  )
  const [mine = 0n, others = 0n] = ids
  return { store, mine, others }
}

async function statesOf(store: TestStore): Promise<string[]> {
  const { rows } = await store.pool.query('select state from ferry.import_batches order by import_id')
  return rows.map(row => row.state)
}

test('an import that starts sends its own suspects again, and leaves those of another import', async () => {
  const { store, mine } = await setup()
  await using _ = store
  expect(await start(store, mine)).toMatchObject({ status: 'running' })
  expect(await statesOf(store)).toEqual(['ready', 'suspect'])
})

test('an import has its own suspects sent once more, and none of another import', async () => {
  const { store, mine, others } = await setup()
  await using _ = store
  await inTransaction(store.pool, client => retrySuspects(client, mine, LATER))
  expect(await statesOf(store)).toEqual(['ready', 'suspect'])
  await inTransaction(store.pool, client => retrySuspects(client, others, LATER))
  expect(await statesOf(store)).toEqual(['ready', 'ready'])
})

test('a suspect is not sent once more for a call that had begun before it was refused', async () => {
  const { store, mine } = await setup()
  await using _ = store
  await inTransaction(store.pool, client => retrySuspects(client, mine, 1n))
  expect(await statesOf(store)).toEqual(['suspect', 'suspect'])
})

test('a call of another import that was accepted later says nothing about a suspect', async () => {
  const { store, mine, others } = await setup()
  await using _ = store
  await store.pool.query(`update ferry.import_batches set state = 'sent' where import_id = $1`, [others])
  expect(await inTransaction(store.pool, client => retrySuspectsAmongSent(client, mine))).toBe(0)
})

test('a call that was accepted before says nothing about the suspect that is left, one after it does', async () => {
  await using store = await openTestStore()
  for (const [batches, retried] of [
    [['sent', 'suspect'], 0],
    [['suspect', 'sent'], 1],
  ] as const) {
    const id = await stageRows(store.pool, { rows: 2 })
    await putBatches(
      store.pool,
      id,
      batches.map(state => ({ state })),
    )
    expect(await inTransaction(store.pool, client => retrySuspectsAmongSent(client, id))).toBe(retried)
  }
})

test('rows accepted around it clear the page only of the code for which the row was refused with them', async () => {
  await using store = await openTestStore()
  for (const [refused, retried] of [
    [{ lines: 2, state: 'split', errorCode: 'BadRequest' }, 1],
    [{ lines: 2, state: 'split', errorCode: 'InvalidParameter' }, 0],
  ] as const) {
    const id = await stageRows(store.pool, { rows: 2 })
    const [around] = await putBatches(store.pool, id, [
      refused,
      { state: 'sent' },
      { state: 'suspect', errorCode: 'BadRequest' },
    ])
    await store.pool.query(
      'update ferry.import_batches set parent_id = $2 where import_id = $1 and id <> $2',
      [id, around],
    )
    expect(await inTransaction(store.pool, client => retrySuspectsAmongSent(client, id))).toBe(retried)
  }
})

test('of a row that was too large, any call that was accepted says that the page is not to blame', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  await putBatches(store.pool, id, [{ state: 'sent' }, { state: 'suspect', errorCode: 'EntityTooLarge' }])
  expect(await inTransaction(store.pool, client => retrySuspectsAmongSent(client, id))).toBe(1)
})

test('a worker that takes over leaves the suspects as they are', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2, status: 'running' })
  await putBatches(store.pool, id, [{ state: 'suspect' }])
  await start(store, id)
  expect(await statesOf(store)).toEqual(['suspect'])
})

test('of several suspects, the last to be refused says why', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 2 })
  const codes = ['InvalidParameter', 'BadRequest']
  await putBatches(
    store.pool,
    id,
    codes.map(errorCode => ({ state: 'suspect', errorCode })),
  )
  const details = await inTransaction(store.pool, client => loadSuspectDetails(client, id))
  expect(details).toMatchObject({ errorCode: 'BadRequest' })
})

test('what the platform said last of the suspects of an import is not what it said of those of another', async () => {
  const { store, mine } = await setup()
  await using _ = store
  const details = await inTransaction(store.pool, client => loadSuspectDetails(client, mine))
  expect(details).toMatchObject({ errorCode: 'InvalidParameter' })
})

test('what rows were blamed for is forgotten by a start, but for those that a person was asked about', async () => {
  const { store, mine, others } = await setup()
  await using _ = store
  await inTransaction(store.pool, client => noteAsked(client, mine))
  for (const id of [mine, others]) await start(store, id)
  const { rows } = await store.pool.query(
    'select state, reasons from ferry.import_batches order by import_id',
  )
  expect(rows).toEqual([
    { state: 'ready', reasons: { 2: { message: 'It is not valid.', toCall: '1', asked: true } } },
    { state: 'ready', reasons: {} },
  ])
})
