import { expect, test } from 'vitest'
import { pauseImport } from '#src/imports/control/pause.ts'
import { resolveUncertain } from '#src/imports/control/resolve.ts'
import { resumeImport } from '#src/imports/control/resume.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { putBatches } from '#test/support/batches.ts'
import { rowsUnaccounted } from '#test/support/import-ledger.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'
import { stageSent, start } from './start-import.ts'

test('whoever pauses an import need not wait while it looks for whom others have sent', async () => {
  await using store = await openTestStore()
  await stageSent(store, 6)
  const id = await stageRows(store.pool, { rows: 10 })
  const pause = () => pauseImport(store.pool, id)
  expect(await start(store, id, /^fetch/, pause)).toMatchObject({ status: 'paused' })
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 0, pending: 10 })
  const { rows } = await store.pool.query(
    'select screened_at, screening_at from ferry.imports where id = $1',
    [id],
  )
  expect(rows).toEqual([{ screened_at: null, screening_at: null }])

  await resumeImport(store.pool, id)
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
    const other = await stageRows(store.pool, { rows: 3, status: 'cancelled' })
    const [batch] = await putBatches(store.pool, other, [{ lines: 3, state: 'uncertain', uncertain: true }])
    const id = await stageRows(store.pool, { rows: 5 })
    const decide = () => resolveUncertain(store.pool, other, as, batch!)
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
  // What was there before was looked at; were it looked at again, line 10 would be found.
  await store.pool.query(
    `update ferry.import_recipients set recipient_hash = (
       select recipient_hash from ferry.import_recipients where import_id = $1 and line = 10)
     where import_id <> $1 and line = 2`,
    [id],
  )
  await stageSent(store, 7)
  await start(store, id)
  expect(await loadSummary(store.pool, id)).toMatchObject({ alreadyImported: 7, pending: 23 })
})

test('rows are left out page by page, those of one batch together, and always accounted for', async () => {
  await using store = await openTestStore()
  await stageSent(store, 24_000)
  const id = await stageRows(store.pool, { rows: 25_000 })
  await putBatches(
    store.pool,
    id,
    Array.from({ length: 4 }, () => ({ lines: 3_900 })),
  )
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

test('many imports of one page are looked at, each recipient by whom it was sent to last', async () => {
  await using store = await openTestStore()
  const ids: bigint[] = []
  for (let n = 0; n < 20; n++) ids.push(await stageSent(store, n + 1))
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
  const older = await stageRows(store.pool, { rows: 3, status: 'completed' })
  const newer = await stageRows(store.pool, { rows: 3, status: 'completed' })
  await putBatches(store.pool, older, [{ lines: 3, state: 'sent', sentSecondsAgo: 1 }])
  await putBatches(store.pool, newer, [{ lines: 3, state: 'sent', sentSecondsAgo: 60 }])
  await store.pool.query(`update ferry.import_recipients set locale = 'de-DE' where import_id = $1`, [older])
  const [same, other] = [
    await stageRows(store.pool, { rows: 3, update: true }),
    await stageRows(store.pool, { rows: 3, update: true }),
  ]
  await store.pool.query(`update ferry.import_recipients set locale = 'de-DE' where import_id = $1`, [same])
  await start(store, same)
  expect(await loadSummary(store.pool, same)).toMatchObject({ alreadyImported: 3, pending: 0 })
  await start(store, other)
  expect(await loadSummary(store.pool, other)).toMatchObject({ alreadyImported: 0, pending: 3 })
})

test('what an import has only from another as maybe sent is not counted twice', async () => {
  await using store = await openTestStore()
  const first = await stageRows(store.pool, { rows: 3, status: 'cancelled' })
  await putBatches(store.pool, first, [{ lines: 3, state: 'ready', resends: 1 }])
  const second = await stageRows(store.pool, { rows: 3, status: 'cancelled' })
  await putBatches(store.pool, second, [{ lines: 3, state: 'ready', resends: 1 }])
  await store.pool.query('update ferry.import_recipients set maybe_sent = 1 where import_id = $1', [second])
  const id = await stageRows(store.pool, { rows: 3 })
  await start(store, id)
  const { rows } = await store.pool.query(
    'select maybe_sent from ferry.import_recipients where import_id = $1',
    [id],
  )
  expect(rows.map(row => row.maybe_sent)).toEqual([1, 1, 1])
})
