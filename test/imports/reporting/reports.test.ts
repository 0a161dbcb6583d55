import { describe, expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { openRecipientHash } from '#src/imports/recipient-hash.ts'
import { findRecipient, listRecipients, type RecipientRow } from '#src/imports/reporting/recipients.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { findSummaryRow, listSummaryRows } from '#src/imports/reporting/summary.ts'
import { putBatches } from '#test/support/batches.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

type Store = Awaited<ReturnType<typeof openTestStore>>

async function everybody(store: Store, id: bigint): Promise<RecipientRow[]> {
  const rows: RecipientRow[] = []
  for await (const page of listRecipients(store.pool, id)) rows.push(...page)
  return rows
}

describe('the recipients of an import', () => {
  test('are all listed once, in the order of the file, however many pages that takes', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 12_000 })
    await stageRows(store.pool, { rows: 5 })
    await store.pool.query(
      `insert into ferry.import_left_out (import_id, line, kind, reason, recipient)
       select $1, line, 'suppressed', 'unsubscribed', 'x' from generate_series(12002, 18000) line`,
      [id],
    )
    await store.pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message)
       select $1, line, 'file', 'not a locale', 'm' from generate_series(18001, 24000) line`,
      [id],
    )
    const rows = await everybody(store, id)
    expect(rows.map(row => Number(row.line))).toEqual(Array.from({ length: 23_999 }, (_, index) => index + 2))
    expect(rows.filter(row => row.state === 'suppressed')).toHaveLength(5_999)
    expect(rows.filter(row => row.state === 'rejected')).toHaveLength(6_000)
  })

  test('are told by the batch they are in now, not by those it was split from', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 8 })
    await putBatches(store.pool, id, [
      { lines: 6, state: 'split' },
      { lines: 3, state: 'split' },
      { lines: 1, state: 'sent', requestId: 'req-1' },
      { lines: 2, state: 'in flight', claimEndsInMs: 60_000 },
      { lines: 3, state: 'sent', resends: 2, requestId: 'req-2' },
    ])
    // The rows of split batches lie behind those of their halves, which an index must not be led astray by.
    await store.pool.query(`update ferry.import_batches set state = 'ready' where state = 'split'`)
    await store.pool.query(`update ferry.import_batches set state = 'split' where state = 'ready'`)
    const rows = await everybody(store, id)
    expect(rows.map(row => row.state)).toEqual([
      'sent',
      'in flight',
      'in flight',
      'sent',
      'sent',
      'sent',
      'pending',
      'pending',
    ])
    expect(rows[0]).toMatchObject({ batch: '3', request_id: 'req-1', call: expect.any(String) })
    expect(rows[5]).toMatchObject({ batch: '5', request_id: 'req-2', resends: 2 })
    expect(rows[7]).toMatchObject({ batch: null, sent_at: null, request_id: null })
  })

  test('are found by their hash once their addresses are gone, rejects too', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 3, status: 'completed' })
    await stageRows(store.pool, { rows: 3 })
    const { id: installation } = await loadInstallation(store.pool)
    const hash = openRecipientHash(installation, 'email')('p3@example.com')
    await store.pool.query(
      'update ferry.import_recipients set recipient_hash = $2 where import_id = $1 and line = 3',
      [id, hash],
    )
    await store.pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash)
       values ($1, 9, 'platform', 'refused', 'm', $2)`,
      [id, hash],
    )
    await purgeImport(store.pool, id)
    const found = await findRecipient(store.pool, await findSummaryRow(store.pool, id), 'P3@example.com')
    expect(found).toMatchObject([
      { line: '3', state: 'pending', recipient: null },
      { line: '9', state: 'rejected', reason: 'refused', recipient: null },
    ])
  })
})

test('a report lists batches with every request_id, and what was not sent by reason', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 5, status: 'running' })
  const [, second] = await putBatches(store.pool, id, [
    { lines: 3, state: 'split', requestId: 'req-too-large' },
    { lines: 3, state: 'sent', requestId: 'req-2' },
  ])
  await store.pool.query(
    `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, request_id, batch_id)
     values ('k', 'default', 'import-subscribers', now(), now(), 'req-3', $1)`,
    [second],
  )
  await store.pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select $1, line, 'file', 'no recipient', 'm' from generate_series(20, 22) line`,
    [id],
  )
  await store.pool.query('update ferry.imports set read = 8, rejected = 3, requests = requests + 1')
  const report = await reportImport(store.pool, id)
  expect(report.batches).toMatchObject([{ id: `${second}`, rows: 3, request_ids: ['req-2', 'req-3'] }])
  expect(report.reasons).toEqual([{ kind: 'rejected', origin: 'file', reason: 'no recipient', rows: 3 }])
  expect(report.summary).toMatchObject({ requests: 3, batches: 2, sent: 3, pending: 2 })
  expect(report.differences).toEqual([])
})

test('the newest imports are listed first, each with sums of its own', async () => {
  await using store = await openTestStore()
  const first = await stageRows(store.pool, { rows: 4 })
  const second = await stageRows(store.pool, { rows: 6 })
  await putBatches(store.pool, first, [{ lines: 3, state: 'sent' }])
  const listed = async (limit: number) =>
    (await listSummaryRows(store.pool, limit)).map(({ id, sent, pending }) => ({ id, sent, pending }))
  const [newer, older] = [
    { id: `${second}`, sent: 0, pending: 6 },
    { id: `${first}`, sent: 3, pending: 1 },
  ]
  expect(await listed(5)).toEqual([newer, older])
  expect(await listed(1)).toEqual([newer])
})
