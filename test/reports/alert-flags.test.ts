import { describe, expect, test } from 'vitest'
import { alertRuleFlags } from '#src/model/alert-rule.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { ask, DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

test('rules_contract_breaks lists each enabled rule that cron_load leaves out, and no rule that it counts', async () => {
  await using store = await openTestStore()
  const unread = {
    '61 * * * *': 'minute',
    '*/0 * * * *': 'minute',
    '1,,2 * * * *': 'minute',
    '* * * * 8': 'weekday',
    '5-1 * * * *': 'minute',
    '* 24 0 13 x': 'hour, day, month, weekday',
    '\t* * * * *': 'not 5 fields',
    [`${'0,'.repeat(200)}0 * * * *`]: 'more than 400 bytes',
  }
  for (const [n, cron] of Object.keys(unread).entries()) {
    await insert(store, { id: `${n + 1}`, name: cron, from: DAY, cron })
  }
  // Named already by what it breaks.
  const flags = ['cron_pattern does not have 5 fields']
  await insert(store, { id: '20', name: 'flagged', from: DAY, cron: '@every 30s', flags })
  await insert(store, { id: '21', name: 'off', from: DAY, cron: '61 * * * *', enabled: false })
  await insert(store, { id: '22', name: 'removed', from: DAY, to: HOUR, cron: '61 * * * *' })
  await insert(store, { id: '23', name: 'elsewhere', from: DAY, cron: '61 * * * *', account: 'b' })
  const read = ['*/5 8-20 * jan-Mar mon,5', '0 0 1 * ?', ' 0  12 * * 7 ', '* * * * *']
  for (const [n, cron] of read.entries())
    await insert(store, { id: `${30 + n}`, name: cron, from: DAY, cron })
  const listed = await ask(store, 'rules_contract_breaks', 'account name reason')
  expect(listed.toSorted()).toEqual(
    [
      ...Object.entries(unread).map(([cron, why]) => ['a', cron, `Ferry cannot read this pattern: ${why}`]),
      ['a', 'flagged', flags[0]],
      ['b', 'elsewhere', 'Ferry cannot read this pattern: minute'],
    ].toSorted(),
  )
  const counted = await ask(store, 'cron_load', 'account minute evaluations')
  expect(new Set(counted.map(([account]) => account))).toEqual(new Set(['a']))
  await store.pool.query('delete from ferry.alert_rule_versions where name = any ($1)', [
    listed.map(([, name]) => name),
  ])
  expect(await ask(store, 'cron_load', 'account minute evaluations')).toEqual(counted)
})

test('rules_contract_breaks has a row for each reason, rules_default_timezone the rules without a zone', async () => {
  await using store = await openTestStore()
  const flags = ['cron_pattern does not have 5 fields', 'timezone is not an IANA name']
  await insert(store, { name: 'both', from: DAY, flags, cron: '*', timezone: 'CST' })
  await insert(store, { id: '2', name: 'fixed', from: DAY, to: HOUR, flags })
  await insert(store, { id: '2', name: 'fixed', from: HOUR, timezone: '' })
  await insert(store, { id: '3', name: 'no zone', from: HOUR })
  expect(await ask(store, 'rules_contract_breaks', 'account reason name cron_pattern timezone')).toEqual([
    ['a', flags[0], 'both', '*', 'CST'],
    ['a', flags[1], 'both', '*', 'CST'],
  ])
  expect(await ask(store, 'rules_default_timezone', 'name')).toEqual([['fixed'], ['no zone']])
})

describe('zone_of', () => {
  const zoneOf = async (store: TestStore, names: readonly (string | null)[]) => {
    const { rows } = await store.pool.query<{ zone: string }>(
      'select ferry_internal.zone_of(name) as zone from unnest($1::text[]) with ordinality as n (name, place) order by place',
      [names],
    )
    return rows.map(row => row.zone)
  }

  test('reads what is no IANA name as the platform reads an empty one', async () => {
    await using store = await openTestStore()
    const none = [
      null,
      '',
      'CST',
      'UTC+8',
      'UTC-8',
      '+08:00',
      '+8',
      'Local',
      'GMT+8',
      'PST',
      'JST',
      'IST',
      'Mars/Olympus',
      'Mars/Olympus+8',
    ]
    none.push(
      'Etc/GMT+99',
      'posix/Europe/Berlin',
      'right/UTC',
      'localtime',
      'posixrules',
      'Factory',
      '<+03>-3',
      'europe/berlin',
      ' UTC',
      'EST5',
      'X/A3',
    )
    expect(await zoneOf(store, none)).toEqual(none.map(() => 'Asia/Shanghai'))
  })

  test('knows every IANA name that Postgres has, and its summer time', async () => {
    await using store = await openTestStore()
    const { rows } = await store.pool.query<{ name: string }>(
      `select name from pg_timezone_names where name !~ '^(posix|right)/' and name not in ('Factory', 'localtime', 'posixrules')`,
    )
    const names = rows.map(row => row.name)
    const flagsOf = alertRuleFlags()
    const isFlagged = (timezone: string) => flagsOf({ cron_pattern: '* * * * *', timezone }) !== undefined
    // Of the others, Node and Postgres may have lists of different years.
    expect(names.filter(name => !name.includes('/') && isFlagged(name))).toEqual([])
    const zones = await zoneOf(store, names)
    const renamed = names.filter((name, n) => zones[n] !== name).toSorted()
    expect(renamed).toEqual(['CET', 'EET', 'EST', 'HST', 'MET', 'MST', 'WET'])
    for (const name of renamed) {
      const offset = (at: string) =>
        new Intl.DateTimeFormat('en-US', { timeZone: name, timeZoneName: 'longOffset' })
          .format(new Date(at))
          .replace(/.*GMT/, '')
      const { rows } = await store.pool.query<{ minutes: number; at: string }>(
        `select (extract(epoch from at::timestamptz at time zone ferry_internal.zone_of($1) - at::timestamptz at time zone 'UTC') / 60)::int as minutes, at
         from unnest(array['2026-01-15T12:00:00Z', '2026-07-15T12:00:00Z']) as at`,
        [name],
      )
      for (const { minutes, at } of rows) {
        const [, sign, hours = '0'] = /^([+-])(\d+)/.exec(offset(at)) ?? []
        expect(minutes, `${name} at ${at}`).toBe((sign === '-' ? -60 : 60) * Number(hours))
      }
    }
  })
})

test('rules_longest_firing has the longest episode of each rule, whole, also if it began before the period', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'one', from: 30 * DAY })
  await insert(store, { id: '2', name: 'two', from: 30 * DAY })
  await fire(store, { from: 10 * DAY, to: 6 * DAY })
  await fire(store, { from: DAY, to: 0 })
  await fire(store, { id: '2', from: 5 * DAY })
  await fire(store, { id: '2', from: 20 * DAY, to: 8 * DAY })
  const rows = await ask(store, 'rules_longest_firing', 'name began ended fired_for')
  expect(rows).toEqual([
    ['two', minutesAgo(5 * DAY), null, { intervalMs: expect.closeTo(5 * DAY * 60_000, -6) }],
    ['one', minutesAgo(10 * DAY), minutesAgo(6 * DAY), { intervalMs: 4 * DAY * 60_000 }],
  ])
})

test('nobody saw a rule being switched that returned so', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'was on', from: 9 * DAY, to: 5 * DAY, debug: false })
  await insert(store, { name: 'returned', from: 3 * DAY, to: 2 * DAY, enabled: false, debug: true })
  await insert(store, { name: 'is off', from: 2 * DAY, enabled: false, debug: true })
  for (const report of ['rules_switched_off', 'rules_debug_left_on']) {
    expect(await ask(store, report, 'name since switch_seen')).toEqual([
      ['is off', minutesAgo(3 * DAY), false],
    ])
  }
})
