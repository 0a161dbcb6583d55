import { expect, test } from 'vitest'
import { listBlind } from '#src/reports/blind.ts'
import { loadEditors } from '#src/reports/editors.ts'
import { loadNeverFired } from '#src/reports/firing/never-fired.ts'
import { loadNoisyRules } from '#src/reports/firing/noisy.ts'
import { loadSilenced } from '#src/reports/firing/silenced.ts'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { listBlindSpots, listLimitUse } from '#src/reports/now.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { addRun } from '#test/support/runs.ts'
import { openTestStore } from '#test/support/store.ts'
import { DAY, edited, fire, HOUR, insert, minutesAgo } from './ask.ts'

/* What the console and the commands read of reports: whole rows, of one account or of all, and how a list goes on. */

const MINUTE_MS = 60_000
const lately = (account: string | null = null) => ({ since: minutesAgo(DAY), until: new Date(), account })

test('who edits is counted by account, folder and time, those with the most edits first', async () => {
  await using store = await openTestStore()
  const edits: [ago: number, by: string][] = [
    [100, 'Ada'],
    [200, 'Grace'],
    [300, 'Ada'],
    [3 * DAY, 'Joan'],
  ]
  await edited(store, '1', 1, edits)
  await edited(store, '2', 2, [[150, 'Grace']])
  await insert(store, { account: 'b', name: 'was', from: 9 * DAY, to: 50 })
  await insert(store, { account: 'b', name: 'is', from: 50, by: 'Eve' })
  const editor = (account: string, name: string, count: number, folders: number, last: number) => ({
    account,
    id: `${name.length}`,
    name,
    edits: count,
    folders,
    lastEdit: minutesAgo(last),
  })
  const since = minutesAgo(DAY)
  const all = [editor('a', 'Ada', 2, 1, 100), editor('a', 'Grace', 2, 2, 150), editor('b', 'Eve', 1, 1, 50)]
  expect(await loadEditors(store.pool, { since }, null, 9)).toEqual(all)
  expect(await loadEditors(store.pool, { since }, null, 2)).toEqual(all.slice(0, 2))
  expect(await loadEditors(store.pool, { since }, [2, 'a', '3'], 9)).toEqual(all.slice(1))
  expect(await loadEditors(store.pool, { since }, [2, 'a', '5'], 9)).toEqual(all.slice(2))
  expect(await loadEditors(store.pool, { since, account: 'b' }, null, 9)).toEqual(all.slice(2))
  expect(await loadEditors(store.pool, { since, folder: 2n }, null, 9)).toEqual([
    editor('a', 'Grace', 1, 1, 150),
  ])
  const longer = await loadEditors(store.pool, { since: minutesAgo(9 * DAY), account: 'a' }, null, 9)
  expect(longer.map(({ name }) => name)).toEqual(['Ada', 'Grace', 'Joan'])
})

test('the noisiest rules have their episodes, hours, flaps and share of the night', async () => {
  await using store = await openTestStore()
  const rule = { from: 9 * DAY, timezone: 'UTC' }
  await insert(store, { ...rule, id: '1', name: 'one', labels: { team: 'pay' } })
  await insert(store, { ...rule, account: 'b', id: '1', name: 'other' })
  await fire(store, { id: '1', from: 300, to: 240 })
  await fire(store, { id: '1', from: 235, to: 205 })
  await fire(store, { account: 'b', id: '1', from: 100 })
  const nightShare = expect.toSatisfy(share => share >= 0 && share <= 1)
  const one = {
    account: 'a',
    id: '1',
    name: 'one',
    team: 'pay',
    episodes: 2,
    firedForMs: 90 * MINUTE_MS,
    flaps: 1,
    nightShare,
    lastBegan: minutesAgo(235),
    isFiring: false,
  }
  const { shown, rules } = await loadNoisyRules(store.pool, lately(), 9)
  expect(rules).toBe(2)
  expect(shown).toMatchObject([one, { account: 'b', name: 'other', team: null, episodes: 1, isFiring: true }])
  expect((await loadNoisyRules(store.pool, lately('a'), 9)).shown).toMatchObject([one])
  expect(await loadNoisyRules(store.pool, lately('c'), 9)).toEqual({ shown: [], rules: 0 })
})

test('what was silenced has all that is known of it, of one account or of all', async () => {
  await using store = await openTestStore()
  for (const account of ['a', 'b']) {
    const rule = { account, name: `of ${account}`, labels: { team: account } }
    await insert(store, { ...rule, from: 9 * DAY, to: 50, by: 'Joan' })
    await insert(store, { ...rule, from: 50, enabled: false, by: 'Ada', cron: '0 * * * *' })
  }
  await fire(store, { from: 60, to: 55 })
  await fire(store, { account: 'b', from: 70 })
  const row = (account: string, began: number, ended: Date | null) => ({
    account,
    id: '1',
    name: `of ${account}`,
    team: account,
    at: minutesAgo(50),
    what: 'disabled',
    fields: ['cron_pattern', 'enabled'],
    by: 'Ada',
    began: minutesAgo(began),
    ended,
    isWhileFiring: ended === null,
    exactAt: expect.any(String),
  })
  const all = [row('a', 60, minutesAgo(55)), row('b', 70, null)]
  expect(await loadSilenced(store.pool, lately(), null, 9)).toEqual(all)
  expect(await loadSilenced(store.pool, lately(), null, 1)).toEqual(all.slice(0, 1))
  expect(await loadSilenced(store.pool, lately('b'), null, 9)).toEqual(all.slice(1))
})

test('rules that never fired are listed by id, of an account or a folder, after another one', async () => {
  await using store = await openTestStore()
  await insert(store, {
    id: '10',
    name: 'ten',
    from: 2 * DAY,
    folder: 7,
    by: 'Joan',
    labels: { team: 'pay' },
  })
  await insert(store, { id: '2', name: 'two', from: DAY, folder: 8 })
  await insert(store, { id: '2', name: 'two of b', from: DAY, account: 'b', folder: 7 })
  await insert(store, { id: '3', name: 'fired', from: DAY })
  await fire(store, { id: '3', from: HOUR, to: 50 })
  const names = async (
    filter: Parameters<typeof loadNeverFired>[1],
    after: [string, string] | null,
    max = 9,
  ) => (await loadNeverFired(store.pool, filter, after, max)).map(({ name }) => name)
  const [, , ten] = await loadNeverFired(store.pool, {}, null, 9)
  expect(ten).toEqual({
    account: 'a',
    id: '10',
    name: 'ten',
    folder: '7',
    team: 'pay',
    firstSeen: minutesAgo(2 * DAY),
    observedMs: expect.toSatisfy(ms => Math.abs(ms - 2 * DAY * MINUTE_MS) < 5 * MINUTE_MS),
    updatedBy: 'Joan',
  })
  expect(await names({}, null)).toEqual(['two', 'two of b', 'ten'])
  expect(await names({}, null, 2)).toEqual(['two', 'two of b'])
  expect(await names({}, ['2', 'a'])).toEqual(['two of b', 'ten'])
  expect(await names({ account: 'b' }, null)).toEqual(['two of b'])
  expect(await names({ folder: 7n }, null)).toEqual(['two of b', 'ten'])
})

test('the times in which nothing was read are told of one inventory, and the blind spots of a day', async () => {
  await using store = await openTestStore()
  const { pool } = store
  for (const account of ['a', 'b']) {
    const target = { ...FRESHNESS_TARGET, account, targetMs: HOUR * MINUTE_MS }
    await saveFreshnessTargets(pool, [target, { ...target, resource: 'mcp-servers', folders: null }])
  }
  const runs = [
    ...[400, 380, 100, 5].map(minutes => ['a', minutes] as const),
    ...[300, 290, 200, 190].map(minutes => ['b', minutes] as const),
  ]
  for (const [account, minutes] of runs.toSorted(([, one], [, other]) => other - one)) {
    await pool.query(
      'update ferry.sync_runs set started_at = $2, applied_at = $2, finished_at = $2 where id = $1',
      [await addRun(pool, { account }), minutesAgo(minutes)],
    )
  }
  await pool.query(`update ferry.freshness_targets set target_since = '2025-01-01Z'`)
  const span = { from: minutesAgo(370), to: minutesAgo(1) }
  const blind = (account: string, since: number | null, until: number | null) => ({
    account,
    since: since === null ? null : minutesAgo(since),
    until: until === null ? null : minutesAgo(until),
  })
  const ofRules = (account: string | null) => listBlind(pool, { account, resource: 'alert-rules' }, span)
  expect(await ofRules('a')).toEqual([blind('a', 380, 100), blind('a', 100, 5)])
  expect(await ofRules(null)).toEqual([
    blind('b', null, 300),
    blind('b', 290, 200),
    blind('a', 380, 100),
    blind('a', 100, 5),
    blind('b', 190, null),
  ])
  const spot = (account: string, lateFrom: number, freshAgain: number | null) => ({
    account,
    inventory: 'alert-rules',
    lateFrom: minutesAgo(lateFrom),
    freshAgainAt: freshAgain === null ? null : minutesAgo(freshAgain),
    errorCode: null,
  })
  const spots = [spot('b', 130, null), spot('b', 230, 200), spot('a', 320, 100)]
  const late = (await listBlindSpots(pool, 9)).filter(({ inventory }) => inventory === 'alert-rules')
  expect(late).toEqual([spot('a', 40, 5), ...spots])
  expect(await listBlindSpots(pool, 1)).toEqual([spot('a', 40, 5)])
})

test('the use of limits is that of the last hour', async () => {
  await using store = await openTestStore()
  await store.pool.query(
    `insert into ferry.platform_limits (limit_key, operation, calls_per_minute) values ('k', 'list-alert-rules', 4)`,
  )
  const calls = [
    [10, 200],
    [10, 429],
    [20, 200],
    [70, 200],
  ] as const
  for (const [minutes, status] of calls) {
    await store.pool.query(
      `insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, http_status)
       values ('k', 'a', 'list-alert-rules', $1, $1, $1, $2)`,
      [minutesAgo(minutes), status],
    )
  }
  const minute = { account: 'a', operation: 'list-alert-rules' }
  expect(await listLimitUse(store.pool)).toEqual([
    { ...minute, minute: minutesAgo(10), calls: 2, share: 0.5, refused: 1 },
    { ...minute, minute: minutesAgo(20), calls: 1, share: 0.25, refused: 0 },
  ])
})
