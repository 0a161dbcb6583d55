import { expect, test } from 'vitest'
import { openTestStore } from '#test/support/store.ts'
import { ask, DAY, edited, minutesAgo } from './ask.ts'

test('mass_edits finds twenty rules of one person within an hour, also across the full hour', async () => {
  await using store = await openTestStore()
  for (let n = 0; n < 20; n++) {
    await edited(store, `${100 + n}`, n % 2, [[DAY + n * 3, 'Ada']])
    await edited(store, `${200 + n}`, 1, [[DAY + n * 4, 'Grace']])
    await edited(store, `${400 + n}`, 1, [[DAY, n < 19 ? 'Joan' : 'Joanna']])
    await edited(store, `${500 + n}`, 1, [[8 * DAY, 'Katherine']])
  }
  const often = Array.from({ length: 20 }, (_, n): [number, string] => [2 * DAY + n, 'Margaret'])
  await edited(store, '300', 1, often)
  expect(await ask(store, 'mass_edits', 'account updater_name began ended rules edits folders')).toEqual([
    ['a', 'Ada', minutesAgo(DAY + 57), minutesAgo(DAY), 20, 20, 2],
  ])
  expect(await ask(store, 'mass_edits', 'updater_name', { account: 'a' })).toEqual([['Ada']])
  expect(await ask(store, 'mass_edits', 'updater_name', { account: 'b' })).toEqual([])
  const { rows } = await store.pool.query(`select updater_name, rules from ferry.mass_edits(at_least => 15)`)
  expect(rows).toEqual([
    { updater_name: 'Grace', rules: 20 },
    { updater_name: 'Ada', rules: 20 },
    { updater_name: 'Joan', rules: 19 },
  ])
})

test.each<[string, [rule: string, minute: number][], unknown[]]>([
  [
    'one rule edited often',
    [
      ['1', 0],
      ['2', 0],
      ['2', 50],
      ['3', 100],
      ['2', 105],
    ],
    [],
  ],
  [
    'the first hour with enough',
    [
      ['1', 0],
      ['2', 0],
      ['2', 50],
      ['3', 100],
      ['4', 105],
    ],
    [50, 105, 3, 3],
  ],
  [
    'hours that follow one another',
    [
      ['1', 0],
      ['2', 30],
      ['3', 60],
      ['1', 61],
      ['4', 90],
    ],
    [0, 90, 4, 5],
  ],
  [
    'hours of which one begins when the other ends',
    [
      ['1', 0],
      ['2', 0],
      ['3', 0],
      ['4', 60],
      ['5', 60],
      ['6', 60],
    ],
    [0, 60, 6, 6],
  ],
  [
    'too few in each hour',
    [
      ['1', 0],
      ['2', 50],
      ['3', 100],
      ['2', 105],
    ],
    [],
  ],
  [
    'an hour and no more',
    [
      ['1', 0],
      ['2', 30],
      ['3', 61],
    ],
    [],
  ],
])('mass_edits counts different rules in each hour: %s', async (_, edits, found) => {
  await using store = await openTestStore()
  for (const rule of new Set(edits.map(([id]) => id))) {
    const of = edits.filter(([id]) => id === rule)
    await edited(
      store,
      rule,
      1,
      of.toReversed().map(([, minute]): [number, string] => [DAY - minute, 'Ada']),
    )
  }
  const { rows } = await store.pool.query(
    `select began, ended, rules, edits from ferry.mass_edits(at_least => 3)`,
  )
  const minuteOf = (at: Date) => Math.round((at.getTime() - minutesAgo(DAY).getTime()) / 60_000)
  expect(rows.flatMap(row => [minuteOf(row.began), minuteOf(row.ended), row.rules, row.edits])).toEqual(found)
})
