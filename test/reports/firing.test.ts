import { expect, test } from 'vitest'
import { loadCronLoad } from '#src/reports/firing/cron-load.ts'
import { loadFiredRules, loadLongestFiring } from '#src/reports/firing/episodes.ts'
import { loadBegins } from '#src/reports/firing/firings.ts'
import { loadNoisyRules } from '#src/reports/firing/noisy.ts'
import { loadSilenced } from '#src/reports/firing/silenced.ts'
import { openTestStore } from '#test/support/store.ts'
import { DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

const lastDay = (account: string | null = null) => ({
  since: minutesAgo(DAY),
  until: new Date(),
  account,
})
const NEAR_MS = 60_000

test('the rules that fired longest come first, with the time within the period, and the others are counted', async () => {
  await using store = await openTestStore()
  for (const [id, name] of Object.entries({ '1': 'short', '2': 'long', '3': 'before', '4': 'still' }))
    await insert(store, { id, name, from: 30 * DAY, labels: { team: 'pay' } })
  await insert(store, { account: 'b', name: 'elsewhere', from: 30 * DAY })
  await fire(store, { from: 60, to: 50 })
  await fire(store, { from: 40, to: 30 })
  await fire(store, { id: '2', from: 2 * DAY, to: DAY - 10 * HOUR })
  await fire(store, { id: '3', from: 3 * DAY, to: 2 * DAY })
  await fire(store, { id: '4', from: 90 })
  await fire(store, { account: 'b', from: 5, to: 4 })
  const { shown, ...totals } = await loadFiredRules(store.pool, lastDay(), 3)
  expect(totals).toEqual({ rules: 4, episodes: 5, firing: 1 })
  expect(shown.map(({ name, team, episodes, isFiring }) => [name, team, episodes, isFiring])).toEqual([
    ['long', 'pay', 1, false],
    ['still', 'pay', 1, true],
    ['short', 'pay', 2, false],
  ])
  // What began before the period is cut there.
  expect(shown[0]?.firedForMs).toBe(10 * HOUR * 60_000)
  expect(shown[0]?.bars).toEqual([{ from: minutesAgo(DAY), to: minutesAgo(14 * HOUR) }])
  expect(shown[1]?.bars).toEqual([{ from: minutesAgo(90), to: null }])
  expect(Math.abs((shown[1]?.firedForMs ?? 0) - 90 * 60_000)).toBeLessThan(2 * NEAR_MS)
  expect(shown[2]?.bars).toHaveLength(2)
  const elsewhere = await loadFiredRules(store.pool, lastDay('b'), 3)
  expect(elsewhere.shown.map(({ account, name }) => [account, name])).toEqual([['b', 'elsewhere']])
  expect(await loadFiredRules(store.pool, lastDay('c'), 3)).toEqual({
    shown: [],
    rules: 0,
    episodes: 0,
    firing: 0,
  })
})

test('a rule that flaps all day has at most 500 bars, which cover all of its episodes', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'flaps', from: 30 * DAY })
  await store.pool.query(
    `insert into ferry.alert_rule_firings (account, id, began, ended, began_run, ended_run)
     select 'a', 1, at, at + interval '30 s', 1, 2
     from generate_series(now() - interval '25 hours', now() - interval '1 minute', interval '1 minute') as at`,
  )
  const { shown, episodes } = await loadFiredRules(store.pool, lastDay(), 3)
  expect(episodes).toBeGreaterThan(1_400)
  const bars = shown[0]?.bars ?? []
  expect(bars.length).toBeGreaterThan(450)
  expect(bars.length).toBeLessThanOrEqual(501)
  for (const [n, { from, to }] of bars.entries()) {
    expect(from.getTime()).toBeGreaterThan(bars[n - 1]?.to?.getTime() ?? 0)
    expect(to?.getTime()).toBeGreaterThan(from.getTime())
  }
})

test('what was changed in the period is named with who did it, and whether it switched the rule on or off', async () => {
  await using store = await openTestStore()
  await insert(store, { name: 'one', from: 30 * DAY, to: 20 * HOUR, by: 'Joan' })
  await insert(store, { name: 'two', from: 20 * HOUR, to: 10 * HOUR, by: 'Ada' })
  await insert(store, { name: 'two', from: 10 * HOUR, to: 9 * HOUR, by: 'Grace', enabled: false })
  await insert(store, { name: 'two', from: 9 * HOUR, to: 8 * HOUR, by: 'Ada' })
  await fire(store, { from: 21 * HOUR, to: 8 * HOUR })
  const { shown } = await loadFiredRules(store.pool, lastDay(), 3)
  expect(shown[0]?.name).toBe('two')
  expect(shown[0]?.events).toEqual([
    { at: minutesAgo(20 * HOUR), change: 'changed', enabled: null, by: 'Ada' },
    { at: minutesAgo(10 * HOUR), change: 'changed', enabled: false, by: 'Grace' },
    { at: minutesAgo(9 * HOUR), change: 'changed', enabled: true, by: 'Ada' },
    { at: minutesAgo(8 * HOUR), change: 'removed', enabled: null, by: null },
  ])
})

test('the rules that have been firing longest come first', async () => {
  await using store = await openTestStore()
  for (const [id, from] of Object.entries({ '1': 10, '2': 30, '3': 20 })) {
    await insert(store, { id, name: `rule ${id}`, from: DAY })
    await fire(store, { id, from })
  }
  await fire(store, { id: '1', from: 100, to: 50 })
  const rules = await loadLongestFiring(store.pool, 'a', 2)
  expect(rules.map(({ id, name, began }) => [id, name, began])).toEqual([
    ['2', 'rule 2', minutesAgo(30)],
    ['3', 'rule 3', minutesAgo(20)],
  ])
  expect(rules[0]?.firingForMs).toBeGreaterThanOrEqual(30 * 60_000)
  expect(await loadLongestFiring(store.pool, 'b', 2)).toEqual([])
})

test('the noisiest rules come first, and all that fired are counted', async () => {
  await using store = await openTestStore()
  for (const id of ['1', '2', '3']) await insert(store, { id, name: `rule ${id}`, from: 30 * DAY })
  await fire(store, { from: 300, to: 200 })
  await fire(store, { id: '2', from: 100, to: 90 })
  await fire(store, { id: '2', from: 85, to: 80 })
  await fire(store, { id: '3', from: 20 })
  const { shown, rules } = await loadNoisyRules(store.pool, lastDay(), 2)
  expect(rules).toBe(3)
  expect(shown.map(({ name, episodes, flaps, isFiring }) => [name, episodes, flaps, isFiring])).toEqual([
    ['rule 2', 2, 1, false],
    ['rule 1', 1, 0, false],
  ])
  expect(shown[1]?.firedForMs).toBeCloseTo(100 * 60_000, -5)
})

test('the list of what was silenced goes on after the row where a page ended, also within one instant', async () => {
  await using store = await openTestStore()
  for (const id of ['1', '2', '3', '10']) {
    await insert(store, { id, name: `rule ${id}`, from: 30 * DAY, to: 50, by: 'Joan' })
    await insert(store, { id, name: `rule ${id}`, from: 50, enabled: false, by: 'Ada' })
    await fire(store, { id, from: 60, to: 50 })
  }
  const names: string[] = []
  let after: [string, string, string] | null = null
  for (;;) {
    const [row] = await loadSilenced(store.pool, lastDay(), after, 1)
    if (!row) break
    names.push(`${row.name} ${row.what} by ${row.by}`)
    after = [row.exactAt, row.account, row.id]
  }
  expect(names).toEqual(['1', '2', '3', '10'].map(id => `rule ${id} disabled by Ada`))
})

test('episodes are counted where they began, in quarters of an hour', async () => {
  await using store = await openTestStore()
  const at = (minutes: number) => new Date(Math.floor(Date.now() / 900_000) * 900_000 - minutes * 60_000)
  const ago = (minutes: number) => (Math.floor(Date.now() / 60_000) * 60_000 - at(minutes).getTime()) / 60_000
  for (const id of ['1', '2', '3', '4']) await insert(store, { id, name: id, from: 3 * DAY })
  await fire(store, { from: ago(60), to: ago(59) })
  await fire(store, { id: '2', from: ago(46), to: ago(30) })
  await fire(store, { id: '3', from: ago(30) })
  await fire(store, { id: '4', from: 2 * DAY })
  // What a first reading found firing began nobody knows when.
  await insert(store, { id: '5', name: 'found', from: ago(60), appeared: 'first reading' })
  await fire(store, { id: '5', from: ago(60) })
  const begins = await loadBegins(store.pool, lastDay('a'))
  expect(begins.toSorted((a, b) => a.at.getTime() - b.at.getTime())).toEqual([
    { at: at(60), value: 2 },
    { at: at(30), value: 1 },
  ])
})

test('the load of a week has its worst minutes, those of the hour, and those of each quarter', async () => {
  await using store = await openTestStore()
  expect(await loadCronLoad(store.pool, 'a', 3)).toBeNull()
  await insert(store, { name: 'every quarter', from: DAY, cron: '*/15 * * * *', timezone: 'UTC' })
  await insert(store, { id: '2', name: 'on Monday', from: DAY, cron: '30 8 * * 1', timezone: 'UTC' })
  await insert(store, { account: 'b', name: 'elsewhere', from: DAY, cron: '* * * * *', timezone: 'UTC' })
  const load = await loadCronLoad(store.pool, 'a', 3)
  expect(load?.quarters).toHaveLength(7 * 24 * 4)
  const [worst] = load?.worst ?? []
  expect(worst?.evaluations).toBe(2)
  expect([worst?.at.getUTCDay(), worst?.at.toISOString().slice(11, 16)]).toEqual([1, '08:30'])
  expect(load?.worst).toHaveLength(3)
  expect(load?.minutes).toHaveLength(60)
  expect([0, 1, 15, 30].map(minute => load?.minutes[minute])).toEqual([1, 0, 1, 2])
  expect(load?.average).toBeCloseTo((7 * 24 * 4 + 1) / 10_080, 5)
  expect((await loadCronLoad(store.pool, 'b', 1))?.average).toBeCloseTo(1, 5)
  expect(await loadCronLoad(store.pool, 'c', 1)).toBeNull()
})
