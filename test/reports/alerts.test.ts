import { describe, expect, test } from 'vitest'
import { oldHistory } from '#src/inventory/old-rows.ts'
import { insertVersions } from '#test/support/many-rows.ts'
import { removeOld } from '#test/support/prune.ts'
import { openTestStore } from '#test/support/store.ts'
import { insertFiring, insertRuleVersion } from '#test/support/versions.ts'
import { ask, DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

describe('rules_noisy', () => {
  test('counts no time for what began later than the clock, which was set back', async () => {
    await using store = await openTestStore()
    await insert(store, { id: '1', name: 'one', from: DAY })
    await fire(store, { id: '1', from: -HOUR })
    expect(await ask(store, 'rules_noisy', 'name episodes hours')).toEqual([['one', 1, 0]])
  })

  test('counts episodes, the hours in the period, and flaps: those at most ten minutes after another', async () => {
    await using store = await openTestStore()
    await insert(store, { name: 'flaps', from: 30 * DAY, labels: { team: 'payments' }, folder: 7 })
    await insert(store, { id: '2', name: 'quiet', from: 30 * DAY })
    await insert(store, { id: '3', name: 'gone', from: 30 * DAY, to: HOUR })
    await insert(store, { account: 'b', name: 'elsewhere', from: 30 * DAY })
    // The first flaps because of one that ended before the period; the third is ten minutes and not a second late.
    await fire(store, { from: 7 * DAY + 20, to: 7 * DAY + 5 })
    await fire(store, { from: 7 * DAY - 5, to: 7 * DAY - 35 + 5 })
    await fire(store, { from: 300, to: 240 })
    await fire(store, { from: 230, to: 200 })
    await fire(store, { from: 189, to: 159 })
    await fire(store, { id: '2', from: 9 * DAY, to: 8 * DAY })
    await fire(store, { id: '3', from: 8 * DAY, to: HOUR })
    await fire(store, { account: 'b', from: 60 })
    const rows = await ask(store, 'rules_noisy', 'account name folder_id team episodes hours flaps firing')
    expect(rows).toMatchObject([
      ['a', 'flaps', 7n, 'payments', 4, expect.closeTo((25 + 60 + 30 + 30) / 60, 5), 2, false],
      ['a', 'gone', 1n, null, 1, expect.closeTo(7 * 24 - 1, 1), 0, false],
      ['b', 'elsewhere', 1n, null, 1, expect.closeTo(1, 1), 0, true],
    ])
    const longer = await ask(store, 'rules_noisy', 'name episodes flaps', {
      since: minutesAgo(9 * DAY),
      account: 'a',
    })
    expect(longer).toEqual([
      ['flaps', 5, 2],
      ['gone', 1, 0],
      ['quiet', 1, 0],
    ])
  })

  test('counts a flap of an episode that ran when the period began, however long ago the one before ended', async () => {
    await using store = await openTestStore()
    await insert(store, { name: 'one', from: 30 * DAY })
    await insert(store, { account: 'b', name: 'other', from: 30 * DAY })
    await fire(store, { from: 7 * DAY + 60, to: 7 * DAY + 40 })
    await fire(store, { from: 7 * DAY + 30, to: 7 * DAY - 10 })
    // The same id elsewhere had ended just before.
    await fire(store, { account: 'b', from: 9 * DAY, to: 7 * DAY - 15 })
    await fire(store, { from: 7 * DAY - 21, to: 100 })
    expect(await ask(store, 'rules_noisy', 'name episodes flaps', { account: 'a' })).toEqual([['one', 2, 1]])
  })

  test('leaves out what a first reading found firing, and what appeared so: neither was seen to begin', async () => {
    await using store = await openTestStore()
    const rules = { '1': 'first reading', '2': 'unexplained', '3': null } as const
    for (const [id, appeared] of Object.entries(rules)) {
      await insert(store, { id, name: `${appeared}`, from: DAY, to: 600, appeared })
      await insert(store, { id, name: `${appeared}`, from: 600, folder: 2 })
      await fire(store, { id, from: DAY, to: 700 })
    }
    await fire(store, { id: '1', from: 695, to: 605 })
    const columns = 'name episodes hours flaps night_share last_began firing'
    const begun = ['first reading', 1, expect.closeTo((DAY - 700 + 90) / 60, 3), 1]
    const added = ['null', 1, expect.closeTo((DAY - 700) / 60, 3), 0]
    const rows = await ask(store, 'rules_noisy', columns)
    expect(rows.map(row => row.slice(0, 4)).toSorted()).toEqual([begun, added].toSorted())
    expect(rows.find(([name]) => name === 'first reading')?.[5]).toEqual(minutesAgo(695))
    const clear = await ask(store, 'time_to_clear', 'episodes longest removed began_unseen')
    expect(clear).toEqual([[2, { intervalMs: (DAY - 700) * 60_000 }, 0, 2]])
  })

  test('returns at most so many, of one account if it is named, and counts all of them', async () => {
    await using store = await openTestStore()
    for (const [account, ids] of Object.entries({ a: ['1', '2', '3'], b: ['1', '4'] })) {
      for (const id of ids) {
        await insert(store, { account, id, name: `${account}${id}`, from: 30 * DAY })
        await fire(store, { account, id, from: 60 + 10 * Number(id), to: 50 })
      }
    }
    const rows = async (given: string) => {
      const { rows } = await store.pool.query<{ name: string; in_all: number }>(
        `select name, in_all from ferry.rules_noisy(${given})`,
      )
      return rows.map(row => [row.name, row.in_all])
    }
    expect(await rows('at_most => 2')).toEqual([
      ['b4', 5],
      ['a3', 5],
    ])
    expect(await rows(`at_most => 2, of_account => 'a'`)).toEqual([
      ['a3', 3],
      ['a2', 3],
    ])
    expect(await rows(`of_account => 'b'`)).toEqual([
      ['b4', 2],
      ['b1', 2],
    ])
  })

  test('takes the night from the time zone of the rule: Shanghai if it has none or one that is none', async () => {
    await using store = await openTestStore()
    const zones = { '1': 'Europe/Berlin', '2': null, '3': '', '4': 'Mars/Olympus' }
    for (const [id, timezone] of Object.entries(zones)) {
      await insertRuleVersion(store.pool, { id, name: `${timezone}`, timezone, from: '2025-01-01T00:00:00Z' })
      // 21:59 and 22:00, 06:59 and 07:00 in Shanghai; in Berlin an afternoon and the middle of the night.
      for (const at of ['13:59', '14:00', '22:59', '23:00']) {
        const from = `2026-01-10T${at}:00Z`
        await insertFiring(store.pool, { id, from, to: new Date(Date.parse(from) + 30_000) })
      }
    }
    const rows = await ask(store, 'rules_noisy', 'id night_share', {
      since: new Date('2026-01-09T00:00:00Z'),
    })
    expect(rows).toEqual([
      [1n, 0.5],
      [2n, 0.5],
      [3n, 0.5],
      [4n, 0.5],
    ])
    const berlin = await store.pool.query(
      `select id, night_share from ferry.rules_noisy('2026-01-09', day_begins => '14:30', day_ends => '16:00')
       where id in (1, 2) order by id`,
    )
    expect(berlin.rows.map(row => row.night_share)).toEqual([0.5, 1])
  })
})

test('time_to_clear has the median and the ninth decile of what ended in the period, by team', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'owned', from: 30 * DAY, labels: { Squad: 'ledger' } })
  await insert(store, { id: '2', name: 'unowned', from: 30 * DAY })
  for (let minutes = 1; minutes <= 11; minutes++)
    await fire(store, { from: minutes * 100, to: minutes * 100 - minutes })
  await fire(store, { id: '2', from: 8 * DAY, to: DAY })
  await fire(store, { id: '2', from: HOUR })
  await fire(store, { id: '2', from: 9 * DAY, to: 8 * DAY + 1 })
  const minutes = (n: number) => ({ intervalMs: n * 60_000 })
  expect(await ask(store, 'time_to_clear', 'account team episodes p50 p90 longest')).toEqual([
    ['a', 'ledger', 11, minutes(6), minutes(10), minutes(11)],
    ['a', null, 1, minutes(7 * DAY), minutes(7 * DAY), minutes(7 * DAY)],
  ])
})

test('time_to_clear counts an episode that ended with its rule apart: it was not cleared', async () => {
  await using store = await openTestStore()
  // The same ids in both accounts: one's rule is removed, the other's cleared.
  for (const [account, team] of [
    ['a', 'payments'],
    ['b', 'search'],
  ] as const) {
    await insert(store, {
      account,
      name: 'one',
      from: DAY,
      labels: { team },
      ...(account === 'a' && { to: 300 }),
    })
    await insert(store, { account, id: '2', name: 'two', from: DAY, labels: { team: `${team} 2` } })
    await fire(store, { account, from: 700, to: 600 })
    await fire(store, { account, from: 310, to: 300 })
  }
  // It was changed as it cleared, and goes on.
  await insert(store, { account: 'a', id: '3', name: 'changed', from: DAY, to: 400 })
  await insert(store, { account: 'a', id: '3', name: 'changed', from: 400, enabled: false })
  await fire(store, { account: 'a', id: '3', from: 460, to: 400 })
  const minutes = (n: number) => ({ intervalMs: n * 60_000 })
  expect(await ask(store, 'time_to_clear', 'account team episodes p50 longest removed began_unseen')).toEqual(
    [
      ['a', 'payments', 1, minutes(100), minutes(100), 1, 0],
      ['a', null, 1, minutes(60), minutes(60), 0, 0],
      ['b', 'search', 2, minutes(55), minutes(100), 0, 0],
    ],
  )
})

test('rules_never_fired of one account has its rules, however many another account has before them', async () => {
  await using store = await openTestStore()
  await insertVersions(store.pool, 11 * 1_002)
  await insert(store, { account: 'b', id: '1000000', name: 'after them', from: DAY })
  expect(await ask(store, 'rules_never_fired', 'account name in_all', { account: 'b' })).toEqual([
    ['b', 'after them', 1],
  ])
  expect(await ask(store, 'rules_never_fired', 'account', { account: 'a' })).toHaveLength(1_000)
})

test('once versions were removed, days_observed begin with the history, and whether a switch was seen is not known', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'never fired', from: 60 * DAY })
  await insert(store, { id: '2', name: 'returned', from: 12 * DAY, to: 8 * DAY })
  await insert(store, { id: '2', name: 'returned', from: 3 * DAY })
  for (const [id, ...froms] of [
    ['3', 50, 30, 20],
    ['4', 50, 40, 5],
    ['5', 40, 6, 5],
  ] as const) {
    for (const [n, from] of froms.entries()) {
      const next = froms[n + 1]
      await insert(store, {
        id,
        name: id,
        from: from * DAY,
        // Rule 3 is on until 30 days ago, rule 4 until 40, rule 5 until 6 days ago.
        enabled: n === 0,
        debug: n !== 0,
        labels: { n: `${n}` },
        ...(next !== undefined && { to: next * DAY }),
      })
    }
  }
  await insert(store, { id: '6', name: '6', from: 4 * DAY, enabled: false, debug: true })
  for (const old of oldHistory(store.pool, 10 * DAY * 60_000)) await removeOld(old)
  const observed = await ask(store, 'rules_never_fired', 'name days_observed')
  expect(observed).toEqual([
    ['never fired', expect.closeTo(10, 1)],
    ['returned', expect.closeTo(2 + 3, 1)],
  ])
  for (const report of ['rules_switched_off', 'rules_debug_left_on']) {
    expect((await ask(store, report, 'name since switch_seen')).toSorted()).toEqual([
      ['3', minutesAgo(20 * DAY), null],
      ['4', minutesAgo(40 * DAY), null],
      ['5', minutesAgo(6 * DAY), true],
      ['6', minutesAgo(4 * DAY), false],
    ])
  }
})

test('rules_never_fired has enabled rules without an episode, and the days on which they could have had one', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'was off', from: 30 * DAY, to: 20 * DAY })
  await insert(store, { name: 'was off', from: 20 * DAY, to: 15 * DAY, enabled: false })
  await insert(store, { name: 'silent', from: 15 * DAY, labels: { OWNER: 'search' } })
  await insert(store, { id: '2', name: 'fired', from: 30 * DAY })
  await insert(store, { id: '3', name: 'off', from: 30 * DAY, enabled: false })
  await insert(store, { id: '4', name: 'removed', from: 30 * DAY, to: 20 * DAY })
  await insert(store, { id: '5', name: 'old', from: 60 * DAY })
  await insert(store, { account: 'b', id: '2', name: 'same id', from: DAY })
  await fire(store, { id: '2', from: 20 * DAY, to: 19 * DAY })
  expect(await ask(store, 'rules_never_fired', 'account name team first_seen days_observed in_all')).toEqual([
    ['a', 'old', null, minutesAgo(60 * DAY), expect.closeTo(60, 1), 3],
    ['a', 'silent', 'search', minutesAgo(30 * DAY), expect.closeTo(25, 1), 3],
    ['b', 'same id', null, minutesAgo(DAY), expect.closeTo(1, 1), 3],
  ])
  const { rows } = await store.pool.query('select name, in_all from ferry.rules_never_fired(1)')
  expect(rows).toEqual([{ name: 'silent', in_all: 3 }])
})

test.each([
  ['rules_switched_off', { enabled: false }, { enabled: true }, 'off_for'],
  ['rules_debug_left_on', { debug: true }, { debug: false }, 'on_for'],
] as const)(
  '%s says since when and by whom, however often the rule was edited since',
  async (name, on, off, lasts) => {
    await using store = await openTestStore()
    await insert(store, { name: 'was', from: 30 * DAY, to: 20 * DAY, ...on, by: 'Grace' })
    await insert(store, { name: 'was', from: 20 * DAY, to: 10 * DAY, ...off, by: 'Ada' })
    await insert(store, { name: 'is', from: 10 * DAY, to: 5 * DAY, ...on, by: 'Margaret' })
    await insert(store, { name: 'is still', from: 5 * DAY, ...on, by: 'Ada' })
    await insert(store, { id: '2', name: 'always was', from: 40 * DAY, to: 2 * DAY, ...on, by: 'Joan' })
    await insert(store, { id: '2', name: 'always', from: 2 * DAY, ...on, by: 'Ada' })
    await insert(store, { id: '3', name: 'no more', from: 40 * DAY, to: DAY, ...on })
    await insert(store, { id: '3', name: 'no more', from: DAY, ...off })
    await insert(store, { id: '4', name: 'removed', from: 40 * DAY, to: DAY, ...on })
    const rows = await ask(store, name, `account name since switch_seen updater_name ${lasts}`)
    expect(rows.toSorted()).toEqual([
      [
        'a',
        'always',
        minutesAgo(40 * DAY),
        false,
        'Joan',
        { intervalMs: expect.closeTo(40 * DAY * 60_000, -6) },
      ],
      [
        'a',
        'is still',
        minutesAgo(10 * DAY),
        true,
        'Margaret',
        { intervalMs: expect.closeTo(10 * DAY * 60_000, -6) },
      ],
    ])
  },
)
