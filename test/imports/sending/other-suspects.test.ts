import { expect, test } from 'vitest'
import { inTransaction } from '#src/db/pool.ts'
import { loadSuspectDetails, retrySuspects } from '#src/imports/sending/suspects.ts'
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
    await putBatches(store.pool, id, [{ lines: 1, state: 'doubted', errorCode }])
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
  expect(await statesOf(store)).toEqual(['ready', 'doubted'])
})

test('an import has its own suspects sent once more, and none of another import', async () => {
  const { store, mine, others } = await setup()
  await using _ = store
  await inTransaction(store.pool, client => retrySuspects(client, mine, LATER))
  expect(await statesOf(store)).toEqual(['ready', 'doubted'])
  await inTransaction(store.pool, client => retrySuspects(client, others, LATER))
  expect(await statesOf(store)).toEqual(['ready', 'ready'])
})

test('what the platform said last of the suspects of an import is not what it said of those of another', async () => {
  const { store, mine } = await setup()
  await using _ = store
  const details = await inTransaction(store.pool, client => loadSuspectDetails(client, mine))
  expect(details).toMatchObject({ errorCode: 'InvalidParameter' })
})
