import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/store/installation.ts'
import { pauseSchedules } from '#src/store/schedules.ts'
import { addFirstSlot, takeSlot } from '#src/store/slots.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { waitFor } from '../support/wait-for.ts'

const KEY = { schedule: 'poll', account: 'default' }
const NOON = new Date('2026-11-20T12:00:00Z')
const log = pino({ level: 'silent' })

const take = (store: TestStore, slot = NOON) => takeSlot(store.pool, KEY, slot, { evenIfPaused: false, log })
const rowsOf = async (store: TestStore) =>
  (
    await store.pool.query<{
      attempts: number
      retry_at: Date | null
      done_at: Date | null
      outcome: string | null
    }>('select attempts, retry_at, done_at, outcome from ferry.schedule_slots order by slot')
  ).rows

test('a slot is taken by one of many who try at once', async () => {
  await using store = await openTestStore()
  const holds = (await Promise.all(Array.from({ length: 20 }, () => take(store)))).filter(
    hold => hold !== null,
  )
  expect(holds).toHaveLength(1)
  await holds[0]!.settle('succeeded', true)
})

test('a slot is kept for as long as the work takes, and can be settled then', async () => {
  await using store = await openTestStore()
  const hold = await take(store)
  const [before] = await rowsOf(store)
  for (const _ of [1, 2]) {
    const [then] = await rowsOf(store)
    await waitFor(async () => (await rowsOf(store))[0]!.retry_at! > then!.retry_at!, { what: 'a renewal' })
  }
  expect((await rowsOf(store))[0]!.retry_at!.getTime() - before!.retry_at!.getTime()).toBeGreaterThan(4_000)
  expect(hold!.signal.aborted).toBe(false)
  await hold!.settle('succeeded', true)
  expect(await rowsOf(store)).toMatchObject([{ attempts: 1, retry_at: null, outcome: 'succeeded' }])
})

test('who lost a slot is told, and cannot settle it or give it back', async () => {
  await using store = await openTestStore()
  const lost = await take(store)
  await store.pool.query(`update ferry.schedule_slots set retry_at = now() - interval '1 second'`)
  const taken = await take(store)
  await waitFor(() => lost!.signal.aborted, { what: 'the first to be told' })
  await lost!.reopen(0, false)
  await lost!.settle('failed', true)
  expect(await rowsOf(store)).toMatchObject([{ attempts: 2, done_at: null }])
  await taken!.settle('succeeded', true)
  expect(await rowsOf(store)).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
})

test('work that succeeded closes the older slots that wait, but not one that somebody is at', async () => {
  await using store = await openTestStore()
  const minute = (n: number) => new Date(NOON.getTime() + n * 60_000)
  const waiting = await take(store, minute(0))
  await waiting!.reopen(0, true)
  const atWork = await take(store, minute(1))
  const newest = await take(store, minute(2))
  await newest!.settle('succeeded', true)
  expect((await rowsOf(store)).map(row => row.outcome)).toEqual(['superseded', null, 'succeeded'])
  await atWork!.settle('failed', false)
})

test('work that succeeded closes no newer slot, none of another account, and none of another schedule', async () => {
  await using store = await openTestStore()
  const later = new Date(NOON.getTime() + 60_000)
  const others = [
    { key: KEY, slot: later },
    { key: { ...KEY, account: 'other' }, slot: new Date(NOON.getTime() - 60_000) },
    { key: { ...KEY, schedule: 'other' }, slot: new Date(NOON.getTime() - 60_000) },
  ]
  for (const { key, slot } of others) {
    const hold = await takeSlot(store.pool, key, slot, { evenIfPaused: false, log })
    await hold!.reopen(0, true)
  }
  const hold = await take(store)
  await hold!.settle('succeeded', true)
  expect((await rowsOf(store)).filter(row => row.outcome !== null)).toHaveLength(1)
})

test('work that did not succeed closes no other slot', async () => {
  await using store = await openTestStore()
  const older = await take(store, new Date(NOON.getTime() - 60_000))
  await older!.reopen(0, true)
  const hold = await take(store)
  await hold!.settle('failed', false)
  expect((await rowsOf(store)).map(row => row.outcome)).toEqual([null, 'failed'])
})

test('a paused schedule keeps its slots, except what a person asked for; that of another account does not', async () => {
  await using store = await openTestStore()
  await pauseSchedules(store.pool, [{ ...KEY, account: 'other' }])
  expect(
    await takeSlot(store.pool, { ...KEY, account: 'other' }, NOON, { evenIfPaused: false, log }),
  ).toBeNull()
  const byHand = await takeSlot(store.pool, { ...KEY, account: 'other' }, NOON, { evenIfPaused: true, log })
  const free = await take(store)
  await byHand!.settle('succeeded', true)
  await free!.settle('succeeded', true)
})

test("a slot that waits for its next attempt is nobody's, one that is done never again", async () => {
  await using store = await openTestStore()
  const hold = await take(store)
  await hold!.reopen(60_000, true)
  expect(await take(store)).toBeNull()
  await store.pool.query('update ferry.schedule_slots set retry_at = clock_timestamp()')
  const again = await take(store)
  expect(again!.attempts).toBe(2)
  await again!.settle('failed', false)
  expect(await take(store)).toBeNull()
})

test('the first slot of a schedule is recorded once, whoever tries, and never again', async () => {
  await using store = await openTestStore()
  await loadInstallation(store.pool)
  const tries = await Promise.all(Array.from({ length: 10 }, () => addFirstSlot(store.pool, KEY)))
  expect(tries.filter(slot => slot !== null)).toHaveLength(1)
  expect(await addFirstSlot(store.pool, KEY)).toBeNull()
  expect(await addFirstSlot(store.pool, { ...KEY, account: 'other' })).not.toBeNull()
})
