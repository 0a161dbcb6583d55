import { expect, test } from 'vitest'
import { saveCallsPerMinute } from '#src/db/limits.ts'
import { loadThroughput } from '#src/imports/reporting/pace.ts'
import { loadSummary } from '#src/imports/reporting/summary.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { ACCEPTED, openScriptedWorker, refused } from '#test/support/scripted-worker.ts'
import { stageRows } from '#test/support/staged.ts'
import { openTestStore } from '#test/support/store.ts'

const NEVER = new AbortController().signal

test('the reports about imports count what was sent, to whom by locale, and what was not', async () => {
  await using harness = await openFerryHarness({}, { FERRY_IMPORT_LIMIT: '50/1s' })
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 20, batchRows: 5 })
  await pool.query(
    `update ferry.import_recipients set locale = 'de-DE' where import_id = $1 and line % 4 = 0`,
    [id],
  )
  await pool.query(
    `insert into ferry.import_rejects (import_id, line, origin, reason, message)
     select $1, 100 + n, case n when 6 then 'platform' else 'file' end, case when n > 3 then 'no address' when n = 3 then 'a bad locale' else 'invalid address' end, 'm'
     from generate_series(1, 6) n`,
    [id],
  )
  const [{ locales } = { locales: [] }] = await harness.query<{ locales: unknown[] }>(
    `select json_agg(l order by locale) as locales from (
       select locale, count(*) as rows from ferry.import_recipients group by locale) l`,
  )
  const subscribers = () =>
    harness.query('select locale, subscribers as rows from ferry.subscribers_by_page_locale order by 1')
  expect(await subscribers()).toEqual([])
  expect(await harness.query('select sent, pending, missing from ferry.import_funnel')).toMatchObject([
    { sent: 0, pending: 20 },
  ])
  await workImport(harness.ferry, id, { signal: NEVER })
  expect(await subscribers()).toEqual(locales)
  expect(
    await harness.query('select import, to_send, sent, uncertain, pending from ferry.import_funnel'),
  ).toEqual([{ import: `${id}`, to_send: 20, sent: 20, uncertain: 0, pending: 0 }])
  const [rejects] = await harness.query('select account, page_id, created_at from ferry.imports')
  const rejected = { ...rejects, import: `${id}`, rejected_by: 'file' }
  expect(await harness.query('select * from ferry.rejects_by_reason')).toEqual([
    { ...rejected, reason: 'invalid address', rows: 2 },
    { ...rejected, reason: 'no address', rows: 2 },
    { ...rejected, reason: 'a bad locale', rows: 1 },
    { ...rejected, rejected_by: 'platform', reason: 'no address', rows: 1 },
  ])
  expect(await loadThroughput(pool, 'default')).toMatchObject([{ calls: 4, rows: 20, allowed: null }])
  expect(await loadThroughput(pool, 'other')).toEqual([])
  await saveCallsPerMinute(pool, harness.ferry.limits)
  const [throughput] = await harness.query(
    `select account, sum(calls)::int as calls, sum(rows)::int as rows, max(allowed) as allowed
     from ferry.import_throughput() group by account`,
  )
  expect(throughput).toEqual({ account: 'default', calls: 4, rows: 20, allowed: 3_000 })
})

test('import_throughput counts what a call was accepted for, also of a batch that was divided after it', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const id = await stageRows(pool, { rows: 7, batchRows: 4 })
  await using worker = await openScriptedWorker(pool, id)
  const unknown = refused(400, 'BadRequest', { message: 'p3@example.com is unknown' })
  await worker.send(await worker.claim(), unknown)
  for (let claim = await worker.tryClaim(); claim; claim = await worker.tryClaim())
    await worker.send(claim, ACCEPTED)
  const { rows: batches } = await pool.query(`select from ferry.import_batches where state = 'split'`)
  expect(batches).toHaveLength(1)
  const { sent } = await loadSummary(pool, id)
  expect(sent).toBeGreaterThanOrEqual(6)
  const { rows } = await pool.query(
    `select sum(calls)::int as calls, sum(rows)::int as rows from ferry.import_throughput(now() - interval '1 day')`,
  )
  expect(rows).toEqual([{ calls: expect.any(Number), rows: sent }])
  // The answer never came, and a person said that they were sent.
  await pool.query(`update ferry.import_batches set http_status = null where state = 'sent'`)
  const { rows: unanswered } = await pool.query(
    'select sum(rows)::int as rows from ferry.import_throughput()',
  )
  expect(unanswered).toEqual([{ rows: 0 }])
})

test('import_funnel has every row of the file in one of its counts, and says how many are in none', async () => {
  await using harness = await openFerryHarness({})
  const { pool } = harness.ferry
  const id = await stageRows(pool, { rows: 1, batchRows: 1 })
  await pool.query(
    `update ferry.imports set read = 1000, rejected = 7, rejected_by_platform = 3, duplicate = 10, suppressed = 20,
       already_imported = 40, recipients = 500, sent = 300, uncertain = 80`,
  )
  const newer = await stageRows(pool, { rows: 1, batchRows: 1 })
  const [last, funnel] = await harness.query('select * from ferry.import_funnel')
  expect(last).toMatchObject({ import: `${newer}` })
  const [staged] = await harness.query(
    'select account, page_id, method, status, created_at from ferry.imports where id = $1',
    [id],
  )
  expect(funnel).toEqual({
    ...staged,
    import: `${id}`,
    read: 1_000,
    rejected_by_check: 4,
    duplicate: 10,
    suppressed: 20,
    already_imported: 40,
    to_send: 503,
    rejected_by_platform: 3,
    sent: 300,
    uncertain: 80,
    pending: 120,
    missing: 1_000 - (500 + 7 + 10 + 20 + 40),
  })
})
