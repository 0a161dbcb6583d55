import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { ask, DAY, HOUR, insert } from './ask.ts'
import { expected, WEEK_MS } from './cron-expected.ts'

const SCHEDULES = [
  ['*/20 * * * *', 'Europe/Berlin'],
  ['7 * * * *', 'Asia/Kolkata'],
  ['0 8 * * *', ''],
  ['0 8 * * *', 'America/New_York'],
  ['*/30 8-20 * * 1-5', 'Europe/Berlin'],
  ['30 6 * * mon,WED', 'UTC'],
  ['0 0 1,15 * *', 'Europe/Berlin'],
  ['15 3 4 * 5', 'Asia/Tokyo'],
  ['5/20 */6 * * 7', 'Pacific/Auckland'],
  ['0 12 * Nov *', 'UTC'],
  ['59 23 * 12 *', 'UTC'],
] as const

test.each([
  // In Auckland, clocks go forward on the Sunday.
  ['2026-09-21', 'with a change of the clocks'],
  ['2027-02-01', 'with the first day of a month'],
])(
  'cron_load counts the evaluations of each minute as cron-parser does: the week of %s, %s',
  async monday => {
    await using store = await openTestStore()
    for (const [n, [cron, timezone]] of SCHEDULES.entries()) {
      await insert(store, { id: `${n + 1}`, name: cron, cron, timezone, from: DAY })
    }
    await insert(store, { id: '90', name: 'off', from: DAY, enabled: false })
    await insert(store, { id: '91', name: 'removed', from: DAY, to: HOUR })
    for (const [n, cron] of [
      '',
      '* * * *',
      '60 * * * *',
      '1-0 * * * *',
      '*/0 * * * *',
      'x * * * *',
    ].entries()) {
      await insert(store, { id: `${100 + n}`, name: cron, cron, from: DAY })
    }
    const begins = new Date(`${monday}T00:00:00Z`)
    // Any instant of the week stands for it.
    const { rows } = await store.pool.query(
      'select minute, evaluations, rank, average from ferry.cron_load($1, null)',
      [new Date(begins.getTime() + WEEK_MS - 1)],
    )
    expect(rows).toHaveLength(10_080)
    const due = expected(begins, SCHEDULES)
    const wrong = rows.filter(({ minute, evaluations }) => evaluations !== (due.get(minute.getTime()) ?? 0))
    expect(wrong).toEqual([])
    expect(rows.map(row => row.rank)).toEqual(rows.map((_, n) => n + 1))
    expect(rows.map(row => row.evaluations)).toEqual(
      rows.map(row => row.evaluations).toSorted((a, b) => b - a),
    )
    const total = [...due.values()].reduce((sum, each) => sum + each, 0)
    expect(rows[0].average).toBeCloseTo(total / 10_080, 9)
  },
)

test('cron_load shows the sixty worst minutes of each account', async () => {
  await using store = await openTestStore()
  await insert(store, { id: '1', name: 'hourly', cron: '0 * * * *', from: DAY })
  await insert(store, { id: '2', name: 'daily', cron: '0 3 * * *', timezone: 'UTC', from: DAY })
  await insert(store, { account: 'b', name: 'other', from: DAY })
  const rows = await ask(store, 'cron_load', 'account rank evaluations')
  expect(rows).toHaveLength(120)
  expect(rows.filter(([account]) => account === 'a').map(([, , evaluations]) => evaluations)).toEqual(
    Array.from({ length: 60 }, (_, n) => (n < 7 ? 2 : 1)),
  )
  expect(await ask(store, 'cron_load', 'account', { account: 'b' })).toHaveLength(60)
})

test('cron_load counts a rule that is due at :00 and waits for 90 seconds in the minute of :01:30', async () => {
  await using store = await openTestStore()
  await insert(store, { id: '1', name: 'late', cron: '0 * * * *', timezone: 'UTC', delay: 90, from: DAY })
  await insert(store, { id: '2', name: 'on time', cron: '0 3 * * *', timezone: 'UTC', delay: 59, from: DAY })
  // Whatever the platform sends must not fail the report of the others.
  await insert(store, { id: '3', name: 'odd', cron: '0 3 1 1 *', delay: '9223372036854775807', from: DAY })
  await insert(store, { id: '4', name: 'odd', cron: '0 3 1 1 *', delay: '-9223372036854775808', from: DAY })
  const { rows } = await store.pool.query(
    `select to_char(minute at time zone 'UTC', 'MI') as minute, sum(evaluations)::int as evaluations
     from ferry.cron_load('2026-03-04', null) where evaluations > 0 group by 1 order by 1`,
  )
  expect(rows).toEqual([
    { minute: '00', evaluations: 7 },
    { minute: '01', evaluations: 7 * 24 },
  ])
})

test('months and days have their names in any case, alone and in ranges', async () => {
  await using store = await openTestStore()
  const fieldOf = async (field: string, from: number, to: number) => {
    const { rows } = await store.pool.query('select ferry_internal.cron_field($1, $2, $3) as found', [
      field,
      from,
      to,
    ])
    return rows[0].found
  }
  const months = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
  for (const [n, name] of months.entries())
    expect([name, await fieldOf(name, 1, 12)]).toEqual([name, [n + 1]])
  const days = 'SUN MON TUE WED THU FRI SAT'.split(' ')
  for (const [n, name] of days.entries()) expect([name, await fieldOf(name, 0, 7)]).toEqual([name, [n]])
  expect(await fieldOf('Jan-Mar,dec', 1, 12)).toEqual([1, 2, 3, 12])
  expect(await fieldOf('fri-7', 0, 7)).toEqual([0, 5, 6])
  for (const name of ['january', 'mon']) expect([name, await fieldOf(name, 1, 12)]).toEqual([name, null])
})
