import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { ACCEPTED, openScriptedWorker } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'

/* A decision whose transaction is still open: what is done meanwhile waits for it, and then knows it. */

/** Holds a change of an import open while `work` runs, until `work` waits for its lock. */
async function whileOpen<T>(
  store: TestStore,
  change: string,
  id: bigint,
  work: () => Promise<T>,
): Promise<T> {
  const client: PoolClient = await store.pool.connect()
  try {
    await client.query('begin')
    await client.query(change, [id])
    const working = work()
    await waitFor(
      async () => {
        const { rows } = await store.pool.query<{ waiting: number }>(
          `select count(*)::int as waiting from pg_stat_activity
         where datname = current_database() and wait_event_type = 'Lock'`,
        )
        return (rows[0]?.waiting ?? 0) > 0
      },
      { what: 'that it waits for the lock' },
    )
    await client.query('commit')
    return await working
  } finally {
    client.release(true)
  }
}

const PAUSE = `update ferry.imports set status = 'paused' where id = $1`

test('a batch is not claimed while a pause is being written', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  expect(await whileOpen(store, PAUSE, id, () => worker.tryClaim())).toBeNull()
  const { rows } = await store.pool.query(
    'select (select count(*)::int from ferry.platform_calls) as calls, (select count(*)::int from ferry.import_batches) as batches',
  )
  expect(rows).toEqual([{ calls: 0, batches: 0 }])
})

test('an outcome that comes while an import is being changed counts on from what was written', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claim = await worker.claim()
  await whileOpen(store, 'update ferry.imports set accepted = accepted + 5 where id = $1', id, () =>
    worker.send(claim, ACCEPTED),
  )
  const { rows } = await store.pool.query('select accepted from ferry.imports')
  expect(rows).toEqual([{ accepted: 6 }])
})

test('a permit that is returned while an import is being changed is subtracted from what was written', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claim = await worker.claim()
  await whileOpen(store, 'update ferry.imports set requests = requests + 5 where id = $1', id, () =>
    worker.returnPermit(claim),
  )
  const { rows } = await store.pool.query('select requests from ferry.imports')
  expect(rows).toEqual([{ requests: 5 }])
})
