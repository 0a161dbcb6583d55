import { expect, test } from 'vitest'
import { OwnCall } from '#src/db/known-database.ts'
import { LeaseLost } from '#src/db/leases.ts'
import { leaseNameInSql, leaseNameOf } from '#src/imports/page.ts'
import type { ClaimContext } from '#src/imports/sending/claims.ts'
import { LARGEST_FIRST_AFTER } from '#src/imports/sending/decide.ts'
import { decideEnd, endImport } from '#src/imports/sending/end-import.ts'
import { leftOf, type Remainder } from '#src/imports/sending/remainder.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { putBatches } from '#test/support/batches.ts'
import { holdLease, takeOverLeases } from '#test/support/leases.ts'
import { ACCEPTED, openScriptedWorker, sendBatches } from '#test/support/scripted-worker.ts'
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

test('of rows refused alone those are sent once more that the page is not to blame for; a person is asked about the rest once nothing else is left', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 3 })
  await using worker = await openScriptedWorker(pool, id)
  const [early] = await putBatches(pool, id, [
    { state: 'suspect', errorCode: 'InvalidParameter' },
    { state: 'sent' },
    { state: 'suspect', errorCode: 'BadRequest', requestId: 'req-7' },
  ])
  await pool.query(
    `update ferry.import_batches set http_status = 400, reasons = jsonb_build_object(from_line, jsonb_build_object('message', 'No.'))
     where state = 'suspect'`,
  )
  const batches = async () =>
    (await pool.query('select state, reasons from ferry.import_batches order by from_line')).rows
  const importNow = async () =>
    (
      await pool.query(
        'select status, pause_code, pause_request_id, pause_message, pause_what_to_do from ferry.imports',
      )
    ).rows
  expect(await worker.end()).toEqual({ what: 'wait', waitMs: 0 })
  expect(await batches()).toEqual([
    { state: 'ready', reasons: { 2: { message: 'No.' } } },
    { state: 'sent', reasons: {} },
    { state: 'suspect', reasons: { 4: { message: 'No.' } } },
  ])
  expect(await importNow()).toMatchObject([{ status: 'running', pause_code: null }])
  await pool.query(`update ferry.import_batches set state = 'uncertain' where id = $1`, [early])
  expect(await worker.end()).toEqual({ what: 'wait', waitMs: 0 })
  expect(await batches()).toMatchObject([
    { state: 'uncertain' },
    { state: 'sent' },
    { state: 'suspect', reasons: { 4: { message: 'No.', asked: true } } },
  ])
  expect(await importNow()).toEqual([
    {
      status: 'paused',
      pause_code: 'BadRequest',
      pause_request_id: 'req-7',
      pause_message:
        'Only rows are left that the platform refused, each of them sent alone. As no call after that was accepted, the fault may not be in these rows. The last answer: The platform answered BadRequest (HTTP 400).',
      pause_what_to_do:
        'Check --page, the method and the values that the message names. No row was rejected because of this. If the page is wrong, cancel the import and import the file again with the right page. Else resume: rows that are refused again with the same code are rejected.',
    },
  ])
  expect(await worker.end()).toEqual({ what: 'ended', status: 'paused' })
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
