import { expect, test } from 'vitest'
import { saveFreshnessTargets } from '#src/reports/freshness-targets.ts'
import { loadMissedNights, loadNight } from '#src/reports/nights.ts'
import { FRESHNESS_TARGET } from '#test/support/freshness-target.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const DAY_MS = 86_400_000

/** Of both accounts a night four days ago is kept; one of them has another one since. */
async function openNights() {
  const store = await openTestStore()
  const targets = ['b', 'a'].map(account => ({
    ...FRESHNESS_TARGET,
    account,
    resource: 'mcp-servers' as const,
    folders: null,
  }))
  await saveFreshnessTargets(store.pool, targets)
  await store.pool.query(`update ferry.freshness_targets set night_since = '-infinity'`)
  await addSnapshot(store, 'a', 4, 'held')
  await addSnapshot(store, 'b', 4, 'succeeded')
  await addSnapshot(store, 'b', 2, 'partial')
  return store
}

async function addSnapshot({ pool }: TestStore, account: string, daysAgo: number, status: string) {
  await pool.query(
    `insert into ferry.snapshots (account, taken_at, status, alert_rules_run, mcp_servers_run)
     values ($1, $2, $3, 1, 1)`,
    [account, daysBefore(daysAgo), status],
  )
}

const daysBefore = (days: number) => new Date(Date.now() - days * DAY_MS)
const nightOf = (daysAgo: number) => daysBefore(daysAgo).toISOString().slice(0, 10)

test('a night has the status of each account, or of one', async () => {
  await using store = await openNights()
  const of = (daysAgo: number, account: string | null = null) =>
    loadNight(store.pool, nightOf(daysAgo), account)
  expect(await of(4)).toEqual([
    { account: 'a', status: 'held' },
    { account: 'b', status: 'succeeded' },
  ])
  expect(await of(3)).toEqual([
    { account: 'a', status: 'missed' },
    { account: 'b', status: 'missed' },
  ])
  expect(await of(2)).toEqual([
    { account: 'a', status: 'missed' },
    { account: 'b', status: 'partial' },
  ])
  expect(await of(2, 'b')).toEqual([{ account: 'b', status: 'partial' }])
  expect(await of(2, 'c')).toEqual([])
  expect(await of(5)).toEqual([])
})

test('the nights that were missed are listed with their accounts, the newest first', async () => {
  await using store = await openNights()
  // Whether last night is missed depends on the minute.
  const missed = (await loadMissedNights(store.pool, 9)).filter(({ night }) => night < nightOf(1))
  expect(missed).toEqual([
    { account: 'a', night: nightOf(2) },
    { account: 'a', night: nightOf(3) },
    { account: 'b', night: nightOf(3) },
  ])
  const all = await loadMissedNights(store.pool, 9)
  expect(await loadMissedNights(store.pool, 2)).toEqual(all.slice(0, 2))
})
