import { expect, test } from 'vitest'
import { cancelImport, pauseImport, resumeImport } from '#src/imports/control/decide.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { reportImport } from '#src/imports/reporting/report.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { ADA } from '#test/support/acted-by.ts'
import { putBatches, putEqualBatches } from '#test/support/batches.ts'
import { rowsUnaccounted } from '#test/support/import-ledger.ts'
import {
  ACCEPTED,
  LOST,
  openScriptedWorker,
  sendAll,
  sendBatches,
  TOO_LARGE,
} from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { cutBatch, leaveUncertain, stageSent, start } from './start-import.ts'

const LOCALES = ['en-US', 'de-DE']

test('whoever pauses an import need not wait while it looks for whom others have sent', async () => {
  await using store = await openTestStore()
  await stageSent(store, 6)
  const id = await stageRows(store.pool, { rows: 10 })
  const pause = () => pauseImport(store.pool, id, ADA)
  expect(await start(store, id, /^fetch/, pause)).toMatchObject({ status: 'paused' })
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 10 })
  const { rows } = await store.pool.query(
    'select excluded_to_call, excluding_to_call from ferry.imports where id = $1',
    [id],
  )
  expect(rows).toEqual([{ excluded_to_call: null, excluding_to_call: null }])

  await resumeImport(store.pool, id, ADA)
  expect(await start(store, id)).toMatchObject({ status: 'running' })
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 6, pending: 4 })
})

test('a worker that is to stop leaves the rest for the next one', async () => {
  await using store = await openTestStore()
  await stageSent(store, 6)
  const id = await stageRows(store.pool, { rows: 10 })
  const stop = new AbortController()
  expect(await start(store, id, /^fetch/, async () => stop.abort(), stop.signal)).toBeNull()
  expect(await loadSummary(store.pool, id)).toMatchObject({ status: 'queued', alreadyImported: 0 })
  expect(await start(store, id)).toMatchObject({ status: 'running' })
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 6, pending: 4 })
})

test.for([
  ['sent', { alreadyImported: 3, pending: 2 }, []],
  ['resend', { alreadyImported: 0, pending: 5 }, ['2', '3', '4']],
] as const)(
  'a decision about another import that is made meanwhile counts: %s',
  async ([as, sums, marked]) => {
    await using store = await openTestStore()
    const other = await stageRows(store.pool, { rows: 3 })
    const batch = await leaveUncertain(store, other)
    const id = await stageRows(store.pool, { rows: 5 })
    const decide = () => resolveUncertain(store.pool, other, as, ADA, { batchId: batch })
    expect(await start(store, id, /^fetch/, decide)).toMatchObject({ status: 'running' })
    expect(await loadSummary(store.pool, id)).toMatchObject(sums)
    const { rows } = await store.pool.query('select line from ferry.import_recipients where maybe_sent = 1')
    expect(rows.map(row => row.line)).toEqual(marked)
  },
)

test('an import that goes on looks only at what was sent since, and finds all of it', async () => {
  await using store = await openTestStore()
  await stageSent(store, 3)
  const id = await stageRows(store.pool, { rows: 30 })
  await start(store, id)
  // What was sent before was looked at; were it looked at again, line 10 would be found.
  const before = await stageRows(store.pool, {
    rows: 1,
    recipient: () => 'p10@example.com',
    status: 'completed',
  })
  await store.pool.query('update ferry.import_batches set call_id = 1 where import_id = $1', [before])
  await stageSent(store, 7)
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 7, pending: 23 })
})

test('a row that was refused alone is left out too if another import has sent it meanwhile', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 3 })
  await putBatches(store.pool, id, [{ state: 'suspect' }, { state: 'ready' }])
  await stageSent(store, 3)
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 3, pending: 0 })
})

test('a row that was rejected after its batch was resent and split counts once as maybe sent', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 2, status: 'cancelled' })
  const [, batch] = await putBatches(store.pool, other, [
    { lines: 2, state: 'split', resends: 1 },
    { state: 'rejected', resends: 1 },
  ])
  await store.pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message, recipient_hash, batch_id)
     select import_id, line, 'platform', 'r', 'm', recipient_hash, $2 from ferry.import_recipients
     where import_id = $1 and line = 2`,
    [other, batch],
  )
  const id = await stageRows(store.pool, { rows: 2 })
  await start(store, id)
  const { rows } = await store.pool.query(
    'select maybe_sent from ferry.import_recipients where import_id = $1 order by line',
    [id],
  )
  expect(rows).toEqual([{ maybe_sent: 1 }, { maybe_sent: null }])
})

test('an import that goes on reads none of its rows if nothing was sent meanwhile', async () => {
  await using store = await openTestStore()
  await stageSent(store, 3)
  const id = await stageRows(store.pool, { rows: 30 })
  const others = await stageRows(store.pool, { rows: 30, pageId: 1n })
  const readIn: string[] = []
  const startAndNote = (note: string) =>
    start(store, id, /import_recipients/, async () => void readIn.push(note))
  await startAndNote('the first')
  await sendAll(store.pool, others)
  await cutBatch(store, await stageRows(store.pool, { rows: 2, recipient: line => `q${line}@example.com` }))
  await startAndNote('after nothing')
  await stageSent(store, 4)
  await startAndNote('after four')
  expect(readIn).toEqual(['the first', 'after four'])
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 4, pending: 26 })
})

test('rows are left out page by page, those of one batch together, and always accounted for', async () => {
  await using store = await openTestStore()
  const id = await stageRows(store.pool, { rows: 25_000, batchRows: 3_900 })
  {
    await using worker = await openScriptedWorker(store.pool, id)
    const claims = [await worker.claim(), await worker.claim(), await worker.claim(), await worker.claim()]
    for (const claim of claims) await worker.release(claim)
  }
  await stageSent(store, 24_000)
  const seen: string[] = []
  const look = async () => void seen.push(...(await rowsUnaccounted(store.pool)))
  await start(store, id, /^\s*with recursive page/, look)
  await look()
  expect(seen).toEqual([])
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 24_000, pending: 1_000 })
  const { rows } = await store.pool.query(
    'select state, rows, count(*)::int from ferry.import_batches where import_id = $1 group by 1, 2',
    [id],
  )
  expect(rows).toEqual([{ state: 'left out', rows: 0, count: 4 }])
})

test('rows that another import may have sent are marked page by page, and each batch with some counts once as resent', async () => {
  await using store = await openTestStore()
  const other = await stageRows(store.pool, { rows: 20_000 })
  await putBatches(store.pool, other, [{ lines: 20_000, state: 'uncertain', uncertain: true }])
  const id = await stageRows(store.pool, { rows: 20_000 })
  // The third one is on two pages of 10,000 rows, and the rows without a batch on two others.
  await putEqualBatches(store.pool, id, { batches: 3, rows: 3_900, state: 'ready' })
  await start(store, id)
  const { rows: marked } = await store.pool.query(
    `select maybe_sent, count(*)::int as rows from ferry.import_recipients where import_id = $1 group by 1`,
    [id],
  )
  expect(marked).toEqual([{ maybe_sent: 1, rows: 20_000 }])
  const { rows: batches } = await store.pool.query(
    'select resends from ferry.import_batches where import_id = $1',
    [id],
  )
  expect(batches).toEqual([{ resends: 1 }, { resends: 1 }, { resends: 1 }])
})

test('many imports of one page are looked at, each recipient by whom it was sent to last', async () => {
  await using store = await openTestStore()
  const ids: bigint[] = []
  const update = true
  for (let n = 0; n < 20; n++) {
    ids.push(
      await stageRows(store.pool, { rows: n + 1, update, settings: () => ({ locale: LOCALES[n % 2]! }) }),
    )
    await sendAll(store.pool, ids.at(-1)!)
  }
  const id = await stageRows(store.pool, { rows: 25 })
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 20, pending: 5 })
  const { rows } = await store.pool.query(
    'select distinct earlier_import from ferry.import_left_out where import_id = $1',
    [id],
  )
  expect(rows).toEqual([{ earlier_import: `${ids.at(-1)}` }])
})

test('an update is compared with what was sent last, not with what the newest import sent', async () => {
  await using store = await openTestStore()
  const german = { rows: 3, settings: () => ({ locale: 'de-DE' }) }
  const older = await stageRows(store.pool, german)
  {
    // It has started before the newer one is sent.
    await using worker = await openScriptedWorker(store.pool, older)
    await stageSent(store, 3)
    await worker.send(await worker.claim(), ACCEPTED)
    await worker.end()
  }
  const [same, other] = [
    await stageRows(store.pool, { ...german, update: true }),
    await stageRows(store.pool, { rows: 3, update: true }),
  ]
  await start(store, same)
  expect(await loadSummary(store.pool, same)).toMatchObject({ alreadyImported: 3, pending: 0 })
  await start(store, other)
  expect(await loadSummary(store.pool, other)).toMatchObject({ alreadyImported: 0, pending: 3 })
})

test.for([
  ['given back unsent', null],
  ['divided', TOO_LARGE],
] as const)(
  'an update is compared with what was sent last, not with a batch that was %s before a person decided about it',
  async ([, next]) => {
    await using store = await openTestStore()
    const first = await stageRows(store.pool, { rows: 4 })
    {
      await using worker = await openScriptedWorker(store.pool, first)
      await worker.send(await worker.claim(), LOST)
      const again = await worker.claim()
      if (next) await worker.send(again, next)
      else await worker.release(again)
    }
    await pauseImport(store.pool, first, ADA)
    await resolveUncertain(store.pool, first, 'sent', ADA)
    const german = { rows: 4, update: true, settings: () => ({ locale: 'de-DE' }) }
    await stageRows(store.pool, { ...german, status: 'completed' })
    const id = await stageRows(store.pool, { rows: 4, update: true })
    await start(store, id)
    expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 4 })
  },
)

test('what an import has only from another as maybe sent is not counted twice', async () => {
  await using store = await openTestStore()
  const first = await stageRows(store.pool, { rows: 3 })
  await sendBatches(store.pool, first, [LOST])
  await cancelImport(store.pool, first, ADA)
  await resolveUncertain(store.pool, first, 'resend', ADA)
  const second = await stageRows(store.pool, { rows: 3 })
  await cutBatch(store, second)
  await cancelImport(store.pool, second, ADA)
  const [batch] = (await reportImport(store.pool, second)).batches
  expect(batch).toMatchObject({ state: 'ready', resends: 1 })
  const id = await stageRows(store.pool, { rows: 3 })
  await start(store, id)
  const { rows } = await store.pool.query(
    'select maybe_sent from ferry.import_recipients where import_id = $1',
    [id],
  )
  expect(rows.map(row => row.maybe_sent)).toEqual([1, 1, 1])
})
