import type { Pool } from 'pg'
import { expect, test } from 'vitest'
import { recordActs } from '#src/db/audit.ts'
import { inTransaction } from '#src/db/pool.ts'
import { recordWorker, SILENT_AFTER_MS } from '#src/db/workers.ts'
import { leaseNameOf } from '#src/imports/page.ts'
import { listStuckImports } from '#src/imports/reporting/stuck.ts'
import { findImport } from '#src/imports/sending/work.ts'
import { ADA } from '#test/support/acted-by.ts'
import { ageImport } from '#test/support/age-import.ts'
import { putBatches } from '#test/support/batches.ts'
import { expireLeases, holdLease } from '#test/support/leases.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

/** A running import of which nothing was sent for twenty minutes, and a worker that has its account. */
async function setup() {
  const store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 4, status: 'running' })
  await ageImport(store.pool, id, '20 minutes')
  await recordWorker(store.pool, 'w', null, ['default'])
  return { store, id }
}

async function whyStuck(pool: Pool): Promise<readonly string[]> {
  return (await listStuckImports(pool, 10)).map(row => `${row.id}: ${row.why}`)
}

test('an import is not stuck if its last rows were sent lately, however long ago the first were', async () => {
  const { store, id } = await setup()
  await using _ = store
  expect(await whyStuck(store.pool)).toEqual(['1: no progress'])
  await putBatches(store.pool, id, [
    { state: 'sent', sentSecondsAgo: 1_100 },
    { state: 'sent', sentSecondsAgo: 1 },
  ])
  expect(await whyStuck(store.pool)).toEqual([])
})

test('an import that a person has just resumed, or decided about, is not stuck', async () => {
  for (const action of ['resume', 'resolve'] as const) {
    const { store, id } = await setup()
    await using _ = store
    const act = { account: 'default', action, subjectKind: 'import', subject: `${id}` } as const
    await inTransaction(store.pool, client => recordActs(client, ADA, [act]))
    expect(await whyStuck(store.pool)).toEqual([])
  }
})

test('a worker that has fallen silent sends nothing', async () => {
  const { store } = await setup()
  await using _ = store
  await store.pool.query(`update ferry.workers set seen_at = seen_at - $1 * interval '1 ms'`, [
    SILENT_AFTER_MS + 1,
  ])
  expect(await whyStuck(store.pool)).toEqual(['1: no worker'])
})

test('an import whose worker has died is stuck before that worker counts as silent, unless another takes it at once', async () => {
  const { store, id } = await setup()
  await using _ = store
  await ageImport(store.pool, id, '-14 minutes')
  await holdLease(store.pool, leaseNameOf((await findImport(store.pool, id))!))
  expect(await whyStuck(store.pool)).toEqual([])
  await expireLeases(store.pool, 9_000)
  expect(await whyStuck(store.pool)).toEqual([])
  await expireLeases(store.pool, 11_000)
  expect(await whyStuck(store.pool)).toEqual(['1: no worker'])
})

test('as many are listed as are asked for, whichever are not stuck before them', async () => {
  const { store } = await setup()
  await using _ = store
  await stageRows(store.pool, { rows: 1, pageId: 1n })
  const third = await stageRows(store.pool, { rows: 1, pageId: 2n })
  await ageImport(store.pool, third, '20 minutes')
  await ageImport(store.pool, 1n, '-20 minutes')
  expect(await listStuckImports(store.pool, 1)).toMatchObject([{ id: `${third}` }])
})
