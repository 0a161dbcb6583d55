import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { LeaseLost } from '#src/db/leases.ts'
import { leaseNameInSql, leaseNameOf } from '#src/imports/page.ts'
import type { ClaimContext } from '#src/imports/sending/claims.ts'
import { endImport } from '#src/imports/sending/end-import.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

async function openEnding(store: TestStore): Promise<ClaimContext> {
  const importId = await stageRows(store.pool, { status: 'running', rows: 2 })
  await putBatches(store.pool, importId, [{ lines: 2, state: 'sent' }])
  const lease = { name: 'the lease', token: randomUUID() }
  await store.pool.query(
    `insert into ferry.leases (name, token, holder, acquired_at, expires_at)
     values ($1, $2, 'test', clock_timestamp(), clock_timestamp() + interval '1 hour')`,
    [lease.name, lease.token],
  )
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
  await store.pool.query('update ferry.leases set token = gen_random_uuid()')
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
