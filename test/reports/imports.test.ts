import { expect, test } from 'vitest'
import { saveCallsPerMinute } from '#src/db/calls-per-minute.ts'
import { workImport } from '#src/imports/sending/work.ts'
import { openFerryHarness } from '#test/support/ferry-harness.ts'
import { stageRows } from '#test/support/staged.ts'

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
     select $1, 100 + n, 'file', case n when 3 then 'no address' else 'invalid address' end, 'm' from generate_series(1, 3) n`,
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
  expect(
    await harness.query('select import, rejected_by, reason, rows from ferry.rejects_by_reason'),
  ).toEqual([
    { import: `${id}`, rejected_by: 'file', reason: 'invalid address', rows: 2 },
    { import: `${id}`, rejected_by: 'file', reason: 'no address', rows: 1 },
  ])
  await saveCallsPerMinute(pool, harness.ferry.limits)
  const [throughput] = await harness.query(
    `select account, sum(calls)::int as calls, sum(rows)::int as rows, max(allowed) as allowed
     from ferry.import_throughput() group by account`,
  )
  expect(throughput).toEqual({ account: 'default', calls: 4, rows: 20, allowed: 3_000 })
})
