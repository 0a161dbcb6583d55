import { expect, test } from 'vitest'
import { LeaseLost } from '#src/db/leases.ts'
import { leaseNameInSql, leaseNameOf } from '#src/imports/page.ts'
import type { ClaimContext } from '#src/imports/sending/claims.ts'
import { endImport } from '#src/imports/sending/end-import.ts'
import { holdLease, takeOverLeases } from '#test/support/leases.ts'
import { ACCEPTED, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

async function openEnding(store: TestStore): Promise<ClaimContext> {
  const importId = await stageRows(store.pool, { rows: 2 })
  await sendBatches(store.pool, importId, [ACCEPTED])
  const lease = await holdLease(store.pool, 'the lease')
  const limit = { limitKey: 'account:default', windows: [{ maxCalls: 9, windowMs: 1_000 }] }
  return { pool: store.pool, importId, account: 'default', lease, limit, arrivalBoundMs: 500, claimMs: 1_000 }
}

const statusesIn = async ({ pool }: TestStore) =>
  (await pool.query<{ status: string }>('select status from ferry.imports')).rows.map(row => row.status)

test('an import is ended once; whoever asks again learns how it ended', async () => {
  await using store = await openTestStore()
  const context = await openEnding(store)
  expect(await endImport(context)).toEqual({ what: 'ended', status: 'completed' })
  expect(await endImport(context)).toEqual({ what: 'ended', status: 'completed' })
  expect(await statusesIn(store)).toEqual(['completed'])
})

test('a worker that lost its lease ends nothing', async () => {
  await using store = await openTestStore()
  const context = await openEnding(store)
  await takeOverLeases(store.pool)
  await expect(endImport(context)).rejects.toBeInstanceOf(LeaseLost)
  expect(await statusesIn(store)).toEqual(['running'])
})

test('the lease of a page has the same name in SQL and in TypeScript', async () => {
  await using store = await openTestStore()
  await openEnding(store)
  const { rows } = await store.pool.query<{ name: string; account: string; page_id: string; method: string }>(
    `select ${leaseNameInSql('i')} as name, account, page_id, method from ferry.imports i`,
  )
  const [{ name, account, page_id, method }] = rows as [(typeof rows)[0]]
  expect(name).toBe(leaseNameOf({ account, pageId: BigInt(page_id), method }))
})
