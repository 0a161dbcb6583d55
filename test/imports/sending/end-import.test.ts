import { expect, test } from 'vitest'
import { OwnCall } from '#src/db/known-database.ts'
import { LeaseLost } from '#src/db/leases.ts'
import { leaseNameInSql, leaseNameOf } from '#src/imports/page.ts'
import type { ClaimContext } from '#src/imports/sending/claims.ts'
import { LARGEST_FIRST_AFTER } from '#src/imports/sending/decide.ts'
import { decideEnd, endImport } from '#src/imports/sending/end-import.ts'
import { leftOf, type Remainder } from '#src/imports/sending/remainder.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { holdLease, takeOverLeases } from '#test/support/leases.ts'
import { ACCEPTED, sendBatches } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

async function openEnding(store: TestStore): Promise<ClaimContext> {
  const importId = await stageRows(store.pool, { rows: 2 })
  await sendBatches(store.pool, importId, [ACCEPTED])
  const lease = await holdLease(store.pool, 'the lease')
  const limit = { limitKey: 'account:default', windows: [{ maxCalls: 9, windowMs: 1_000 }] }
  return {
    pool: store.pool,
    importId,
    account: 'default',
    lease,
    limit,
    arrivalBoundMs: 500,
    claimMs: 1_000,
    ownCall: new OwnCall(),
    noticeDatabase: async () => null,
  }
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

const NOTHING: Remainder = {
  inFlightMs: null,
  hasReadyBatch: false,
  suspects: 0,
  heldRows: 0,
  hasMoreRows: false,
}

test('an import of which nothing is left is exhausted, also if rows are held', () => {
  expect(decideEnd('running', null, NOTHING)).toEqual({ to: 'exhausted', left: 'nothing' })
  expect(decideEnd('running', 5, { ...NOTHING, heldRows: 1 })).toEqual({ to: 'exhausted', left: 'uncertain' })
})

test('rows are left as long as one is to be sent, or may have to be', () => {
  expect(leftOf(NOTHING)).toBe('nothing')
  for (const more of [{ inFlightMs: -5 }, { hasReadyBatch: true }, { suspects: 1 }, { hasMoreRows: true }]) {
    expect(leftOf({ ...NOTHING, ...more, heldRows: 2 })).toBe('rows')
  }
})

test('nothing is decided about an import that is not running', () => {
  for (const status of IMPORT_STATUSES.filter(status => status !== 'running')) {
    expect(decideEnd(status, null, NOTHING)).toEqual({ to: 'ended' })
    expect(decideEnd(status, 1, { ...NOTHING, inFlightMs: 5, suspects: 1 })).toEqual({ to: 'ended' })
  }
})

test('a call in flight is waited for before anything else is decided', () => {
  const busy = { ...NOTHING, inFlightMs: 40, suspects: 1, hasMoreRows: true }
  expect(decideEnd('running', 2, busy)).toEqual({ to: 'wait', waitMs: 40 })
})

test('what can be claimed is claimed, then the suspects are decided about', () => {
  expect(decideEnd('running', null, { ...NOTHING, hasReadyBatch: true, suspects: 1 })).toEqual({
    to: 'claim',
  })
  expect(decideEnd('running', null, { ...NOTHING, suspects: 1, hasMoreRows: true })).toEqual({
    to: 'suspects',
  })
})

test('rows beyond the first ones are left, and not to be claimed; without first rows they are claimed', () => {
  const more = { ...NOTHING, hasMoreRows: true, heldRows: 3 }
  expect(decideEnd('running', 5, more)).toEqual({ to: 'exhausted', left: 'rows', firstRows: 5 })
  expect(decideEnd('running', null, more)).toEqual({ to: 'claim' })
})

test('the largest batch is tried three refusals before the import would be paused', () => {
  expect(LARGEST_FIRST_AFTER).toBe(9)
})
