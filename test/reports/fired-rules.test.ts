import { expect, test } from 'vitest'
import { loadFiredRules, loadLongestFiring } from '#src/reports/firing/episodes.ts'
import { openTestStore } from '#test/support/store.ts'
import { DAY, fire, HOUR, insert, minutesAgo } from './ask.ts'

/** From a day ago to an hour ago. */
const period = (account: string | null = null) => ({
  since: minutesAgo(DAY),
  until: minutesAgo(HOUR),
  account,
})

const MINUTE_MS = 60_000

/** Two accounts with rules of one id, which were edited and fired at other times. */
async function openTwoAccounts() {
  const store = await openTestStore()
  const first = { id: '1', name: 'of a', labels: { team: 'pay' } }
  await insert(store, { ...first, from: 9 * DAY, to: DAY, by: 'Joan' })
  await insert(store, { ...first, from: DAY, to: 600, by: 'Ada', enabled: false })
  await insert(store, { ...first, from: 600, to: HOUR, by: 'Grace' })
  await insert(store, { ...first, name: 'a now', from: HOUR, by: 'Grace', labels: { team: 'core' } })
  const other = { account: 'b', id: '1', name: 'of b', labels: null }
  await insert(store, { ...other, from: 700, to: 500, appeared: 'first reading' })
  await insert(store, { ...other, from: 500, by: 'Eve', cron: '0 * * * *' })
  await fire(store, { id: '1', from: 2 * DAY, to: DAY })
  await fire(store, { id: '1', from: DAY + 10, to: DAY - 20 })
  await fire(store, { id: '1', from: 300, to: 290 })
  await fire(store, { id: '1', from: HOUR, to: 50 })
  await fire(store, { account: 'b', id: '1', from: 70 })
  return store
}

const OF_A = () => ({
  account: 'a',
  id: '1',
  name: 'a now',
  team: 'core',
  episodes: 2,
  firedForMs: 30 * MINUTE_MS,
  isFiring: false,
  bars: [
    { from: minutesAgo(DAY), to: minutesAgo(DAY - 20) },
    { from: minutesAgo(300), to: minutesAgo(290) },
  ],
  events: [
    { at: minutesAgo(DAY), change: 'changed', enabled: false, by: 'Ada' },
    { at: minutesAgo(600), change: 'changed', enabled: true, by: 'Grace' },
  ],
})

const OF_B = () => ({
  account: 'b',
  id: '1',
  name: 'of b',
  team: null,
  episodes: 1,
  firedForMs: 10 * MINUTE_MS,
  isFiring: true,
  bars: [{ from: minutesAgo(70), to: null }],
  events: [{ at: minutesAgo(500), change: 'changed', enabled: null, by: 'Eve' }],
})

test('each rule that fired in a period has its own episodes and changes, of that period alone', async () => {
  await using store = await openTwoAccounts()
  expect(await loadFiredRules(store.pool, period(), 9)).toEqual({
    shown: [OF_A(), OF_B()],
    rules: 2,
    episodes: 3,
    firing: 1,
  })
  expect(await loadFiredRules(store.pool, period(), 1)).toEqual({
    shown: [OF_A()],
    rules: 2,
    episodes: 3,
    firing: 1,
  })
  expect(await loadFiredRules(store.pool, period('b'), 9)).toEqual({
    shown: [OF_B()],
    rules: 1,
    episodes: 1,
    firing: 1,
  })
})

test('of many changes the last fifty are shown, by time', async () => {
  await using store = await openTestStore()
  for (let n = 60; n >= 0; n--) {
    const to = n === 0 ? undefined : 99 + n
    await insert(store, { name: `name ${n}`, from: 100 + n, ...(to !== undefined && { to }) })
  }
  await fire(store, { from: 150, to: 140 })
  const { shown } = await loadFiredRules(store.pool, period(), 9)
  const events = shown[0]?.events ?? []
  expect(events.map(({ at }) => at)).toEqual(Array.from({ length: 50 }, (_, n) => minutesAgo(149 - n)))
})

test('what fires now is shown with since when, of one account or of all, the longest first', async () => {
  await using store = await openTestStore()
  for (const [account, id, from] of [
    ['a', '2', 20],
    ['b', '1', 30],
    ['a', '1', 20],
    ['a', '3', 10],
  ] as const) {
    await insert(store, { account, id, name: `${id} of ${account}`, from: DAY })
    await fire(store, { account, id, from })
  }
  await fire(store, { account: 'b', id: '1', from: 100, to: 90 })
  const row = (account: string, id: string, minutes: number) => ({
    account,
    id,
    name: `${id} of ${account}`,
    began: minutesAgo(minutes),
    firingForMs: expect.closeTo((minutes + 0.5) * MINUTE_MS, -5),
  })
  const all = [row('b', '1', 30), row('a', '1', 20), row('a', '2', 20), row('a', '3', 10)]
  expect(await loadLongestFiring(store.pool, null, 9)).toEqual(all)
  expect(await loadLongestFiring(store.pool, null, 2)).toEqual(all.slice(0, 2))
  expect(await loadLongestFiring(store.pool, 'a', 2)).toEqual(all.slice(1, 3))
})
