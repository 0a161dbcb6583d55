import { describe, expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { confirmImport } from '#src/imports/control/decide.ts'
import { purgeImport } from '#src/imports/control/purge.ts'
import { findRecipient, listRecipients, type RecipientRow } from '#src/imports/reporting/recipients.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { findSummaryRow, listSummaryRows } from '#src/imports/reporting/summary.ts'
import { openRecipientHash } from '#src/imports/spellings.ts'
import { ADA } from '#test/support/acted-by.ts'
import {
  ACCEPTED,
  accepted,
  BAD_ROWS,
  LOST,
  naming,
  openScriptedWorker,
  refused,
  sendAll,
  sendBatches,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { openStagingHarness } from '../staging/staging-harness.ts'

async function everybody(store: TestStore, id: bigint): Promise<RecipientRow[]> {
  const rows: RecipientRow[] = []
  for await (const page of listRecipients(store.pool, id)) rows.push(...page)
  return rows
}

describe('the recipients of an import', () => {
  test('are all listed once, in the order of the file, however many pages that takes', async () => {
    await using harness = await openStagingHarness()
    const people = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `p${from + n}@example.com`)
    const suppress = await harness.file(people(12_000, 17_999).join('\n'))
    const lines = [...people(0, 17_999), ...Array(6_000).fill('nobody')]
    const staged = await harness.stage(['email', ...lines].join('\n'), { suppress })
    await stageRows(harness.store.pool, { rows: 5 })
    const rows = await everybody(harness.store, staged.import!)
    expect(rows.map(row => Number(row.line))).toEqual(Array.from({ length: 23_999 }, (_, index) => index + 2))
    expect(rows.filter(row => row.state === 'suppressed')).toHaveLength(5_999)
    expect(rows.filter(row => row.state === 'rejected')).toHaveLength(6_000)
  })

  test('are told by the batch they are in now, not by those it was split from', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 8, batchRows: 6 })
    // Six rows become 3 and 3, and the first of these 1 and 2.
    await sendBatches(store.pool, id, [BAD_ROWS, BAD_ROWS, accepted('req-1')])
    await using worker = await openScriptedWorker(store.pool, id)
    const inFlight = await worker.claim()
    // A row of the other three is rejected: then the rows of split batches lie behind those of their parts in the table,
    // which an index must not be led astray by.
    for (const answer of [LOST, LOST, naming('p6@example.com'), accepted('req-2')]) {
      await worker.send(await worker.claim(), answer)
    }
    const rows = await everybody(store, id)
    expect(rows.map(row => row.state)).toEqual([
      'sent',
      'in flight',
      'in flight',
      'sent',
      'rejected',
      'sent',
      'pending',
      'pending',
    ])
    expect(rows[0]).toMatchObject({ batch: '4', requestId: 'req-1', call: expect.any(String) })
    expect(rows[1]).toMatchObject({ batch: `${inFlight.batchId}` })
    expect(rows[5]).toMatchObject({ batch: '3', requestId: 'req-2', resends: 2 })
    expect(rows[7]).toMatchObject({ batch: null, sentAt: null, requestId: null })
  })

  test('are found by their hash once their addresses are gone, rejects too', async () => {
    await using store = await openTestStore()
    const [id, rejecting] = [
      await stageRows(store.pool, { rows: 3 }),
      await stageRows(store.pool, { rows: 3, pageId: 2n }),
    ]
    await stageRows(store.pool, { rows: 3, pageId: 3n })
    await sendAll(store.pool, id)
    await sendBatches(store.pool, rejecting, [naming('p3@example.com')])
    await sendAll(store.pool, rejecting)
    const found = async (of: bigint) => {
      await purgeImport(store.pool, of, ADA)
      return findRecipient(store.pool, await findSummaryRow(store.pool, of), 'P3@example.com')
    }
    expect(await found(id)).toMatchObject([{ line: '3', state: 'sent', recipient: null }])
    expect(await found(rejecting)).toMatchObject([
      { line: '3', state: 'rejected', reason: 'refused by the platform', recipient: null },
    ])
  })

  test('are found wherever they are in a large file', async () => {
    await using store = await openTestStore()
    const id = await stageRows(store.pool, { rows: 1 })
    const { id: installation } = await loadInstallation(store.pool)
    const lines = [1, 249_999, 250_000, 499_999, 500_000, 12_000_000]
    await store.pool.query(
      `insert into ferry.import_left_out (import_id, line, kind, reason, recipient)
       select $1, unnest($2::bigint[]), 'duplicate', 'duplicate', 'Ada@example.com'`,
      [id, lines],
    )
    // A line is in one of the tables only; the search does not care.
    await store.pool.query(
      `insert into ferry.import_recipients (import_id, line, recipient_hash, "all", locale, recipient)
       select $1, unnest($2::bigint[]), $3, true, 'en-US', 'Ada@example.com'`,
      [id, lines, openRecipientHash(installation, 'email')('ada@example.com')],
    )
    await store.pool.query(
      `insert into ferry.import_rejects (import_id, line, origin, reason, message, raw)
       select $1, unnest($2::bigint[]), 'file', 'not a locale', 'm', 'Ada@example.com,xx'`,
      [id, lines],
    )
    const found = await findRecipient(
      store.pool,
      { id: `${id}`, method: 'email', purgedAt: null },
      'ada@EXAMPLE.com',
    )
    expect(found.map(({ line }) => Number(line))).toEqual(lines.flatMap(line => [line, line, line]))
  })
})

test('a report lists batches with every request_id, and what was not sent by reason', async () => {
  await using harness = await openStagingHarness()
  const { pool } = harness.store
  const file = `email\n${[1, 2, 3, 4, 5].map(n => `p${n}@example.com\n`).join('')}nobody\nnobody\nnobody\n`
  const { import: id } = await harness.stage(file, { batchRows: 4 })
  await confirmImport(pool, id!, ADA)
  const [whole, second, again, third] = await sendBatches(pool, id!, [
    BAD_ROWS,
    refused(503, 'ServiceUnavailable', { requestId: 'req-3' }),
    accepted('req-4'),
    accepted('req-5'),
  ])
  expect(again).toBe(second)
  expect(third).not.toBe(whole)
  const report = await reportImport(pool, id!)
  expect(report.batches).toMatchObject([
    { id: `${second}`, rows: 2, requestIds: ['req-3', 'req-4'], calls: 3 },
    { id: `${third}`, rows: 2, requestIds: ['req-5'], calls: 2 },
  ])
  expect(report.reasons).toEqual([
    { kind: 'rejected', origin: 'file', reason: 'not an e-mail address', rows: 3 },
  ])
  expect(report.summary).toMatchObject({ requests: 4, batches: 3, sent: 4, pending: 1 })
  expect(report.differences).toEqual([])
})

test('the newest imports are listed first, each with sums of its own', async () => {
  await using store = await openTestStore()
  const first = await stageRows(store.pool, { rows: 4, batchRows: 3 })
  const second = await stageRows(store.pool, { rows: 6 })
  await sendBatches(store.pool, first, [ACCEPTED])
  const listed = async (limit: number) =>
    (await listSummaryRows(store.pool, limit)).map(({ id, sent, pending }) => ({ id, sent, pending }))
  const [newer, older] = [
    { id: `${second}`, sent: 0, pending: 6 },
    { id: `${first}`, sent: 3, pending: 1 },
  ]
  expect(await listed(5)).toEqual([newer, older])
  expect(await listed(1)).toEqual([newer])
})
