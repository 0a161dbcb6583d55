import { expect, test } from 'vitest'
import type { Report } from '#src/reports/report.ts'
import { runReport } from '#src/reports/run-report.ts'
import { openTestStore } from '#test/support/store.ts'

const reportOf = (columns: Readonly<Record<string, string>>): Report => ({
  name: 'columns',
  shows: 'each column',
  takes: [],
  query: `select ${Object.entries(columns)
    .map(([name, sql]) => `${sql} as "${name}"`)
    .join(', ')}`,
})

test('each type of a column is read without losing anything', async () => {
  await using store = await openTestStore()
  const { columns, rows } = await runReport(
    store.pool,
    reportOf({
      int4: `7`,
      int8: `9007199254740993::bigint`,
      id: `18446744073709551615::numeric(20, 0)`,
      negative: `(-5)::bigint`,
      fraction: `1.25::numeric`,
      double: `0.25::double precision`,
      text: `'text'::text`,
      flag: `true`,
      date: `'2026-01-02'::date`,
      time: `'2026-01-02 03:04:05.678+00'::timestamptz`,
      json: `'{"id": 18446744073709551615}'::json`,
      jsonb: `'{"id": 18446744073709551615}'::jsonb`,
      texts: `'{a,"b c",NULL}'::text[]`,
      int8s: `'{9007199254740993,NULL}'::bigint[]`,
      ids: `'{18446744073709551615,1}'::numeric(20, 0)[]`,
      nothing: `null::bigint`,
    }),
    {},
  )
  expect(columns).toHaveLength(16)
  expect(Object.fromEntries(columns.map((name, n) => [name, rows[0]?.[n]]))).toEqual({
    int4: 7,
    int8: 9_007_199_254_740_993n,
    id: 18_446_744_073_709_551_615n,
    negative: -5n,
    fraction: '1.25',
    double: 0.25,
    text: 'text',
    flag: true,
    date: '2026-01-02',
    time: new Date('2026-01-02T03:04:05.678Z'),
    json: { json: '{"id": 18446744073709551615}' },
    jsonb: { json: '{"id": 18446744073709551615}' },
    texts: ['a', 'b c', null],
    int8s: ['9007199254740993', null],
    ids: ['18446744073709551615', '1'],
    nothing: null,
  })
})

test.for([
  '0',
  '1 millisecond',
  '1.5 seconds',
  '2 minutes',
  '3 hours',
  '4 days',
  '5 months',
  '6 years',
  '6 years 5 months 4 days 3 hours 2 minutes 1.234 seconds',
  '-1 day -2 hours -3 minutes -4.5 seconds',
  '1 day -1 hour',
])('an interval of %s has the milliseconds that Postgres counts', async text => {
  await using store = await openTestStore()
  const { rows } = await runReport(
    store.pool,
    reportOf({
      shown: `'${text}'::interval`,
      counted: `(extract(epoch from '${text}'::interval) * 1000)::double precision`,
    }),
    {},
  )
  const [[shown, counted] = []] = rows
  expect(shown).toEqual({ intervalMs: expect.closeTo(counted as number, 3) })
})

test('a report gets its arguments in the order of what it takes, and that of a night the account and the night', async () => {
  await using store = await openTestStore()
  const report: Report = {
    name: 'arguments',
    shows: 'its arguments',
    takes: ['since', 'account'],
    query: 'select $1::timestamptz as since, $2::text as account',
    ofNight: 'select $1::text as account, $2::date as night',
  }
  const given = { since: new Date('2026-01-02T03:04:05Z'), account: 'a' }
  expect(await runReport(store.pool, report, given)).toEqual({
    columns: ['since', 'account'],
    rows: [[given.since, 'a']],
  })
  expect((await runReport(store.pool, report, {})).rows).toEqual([[null, null]])
  expect(await runReport(store.pool, report, { account: 'a', night: '2026-01-02' })).toEqual({
    columns: ['account', 'night'],
    rows: [['a', '2026-01-02']],
  })
  const { ofNight: _, ...withoutNights } = report
  expect((await runReport(store.pool, withoutNights, { night: '2026-01-02' })).rows).toEqual([[null, null]])
})
