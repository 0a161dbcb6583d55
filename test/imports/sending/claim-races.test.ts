import type { PoolClient } from 'pg'
import { expect, test } from 'vitest'
import { lockPage } from '#src/imports/page.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ACCEPTED, openScriptedWorker } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { waitFor } from '#test/support/wait-for.ts'
import { leaveUncertain, stageSent, start } from './start-import.ts'

/* A decision whose transaction is still open: what is done meanwhile waits for it, and then knows it. */

/** Holds a change open while `work` runs, until `work` waits for its lock. `work` may change more in the same transaction. */
async function whileOpen<T>(
  store: TestStore,
  change: (client: PoolClient) => Promise<unknown>,
  work: (client: PoolClient) => Promise<T>,
): Promise<T> {
  const client: PoolClient = await store.pool.connect()
  try {
    await client.query('begin')
    await change(client)
    const working = work(client)
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

/** Sets columns of every import. */
const set = (columns: string) => (client: PoolClient) => client.query(`update ferry.imports set ${columns}`)

test('a batch is not claimed while a pause is being written', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  expect(await whileOpen(store, set(`status = 'paused'`), () => worker.tryClaim())).toBeNull()
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
  await whileOpen(store, set('accepted = accepted + 5'), () => worker.send(claim, ACCEPTED))
  const { rows } = await store.pool.query('select accepted from ferry.imports')
  expect(rows).toEqual([{ accepted: 6 }])
})

test('a permit that is returned while an import is being changed is subtracted from what was written', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, batchRows: 2 })
  await using worker = await openScriptedWorker(store.pool, id)
  const claim = await worker.claim()
  await whileOpen(store, set('requests = requests + 5'), () => worker.returnPermit(claim))
  const { rows } = await store.pool.query('select requests from ferry.imports')
  expect(rows).toEqual([{ requests: 5 }])
})

test('an import does not look for whom others have sent while a decision about that is being written', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 3 })
  const batch = await leaveUncertain(store, other)
  const id = await stageRows(store.pool, { rows: 5 })
  async function decide(client: PoolClient) {
    await lockPage(client, other)
    await client.query(`update ferry.import_batches set state = 'sent', uncertain = false where id = $1`, [
      batch,
    ])
  }
  await whileOpen(store, decide, () => start(store, id))
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 3, pending: 2 })
})

test('nobody is left out of an import while a pause is being written, which begins after the search', async () => {
  await using store = await openTestStore()
  await stageSent(store, 6)
  const id = await stageRows(store.pool, { rows: 10 })
  const nothingYet = async () => {}
  const started = await whileOpen(store, nothingYet, client =>
    start(store, id, /^fetch/, () =>
      client.query("update ferry.imports set status = 'paused' where id = $1", [id]),
    ),
  )
  expect(started).toMatchObject({ status: 'paused' })
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 10 })
})
