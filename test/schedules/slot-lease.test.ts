import type { Pool } from 'pg'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import { addFirstSlot } from '#src/schedules/find-due.ts'
import { loadScheduleStates } from '#src/schedules/schedule-states.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { ADA } from '#test/support/acted-by.ts'
import { expireLeases, leasesOf } from '#test/support/leases.ts'
import { endSlotPauses, listSlots } from '#test/support/slots.ts'
import { openTestStore, type TestStore } from '../support/store.ts'
import { waitFor } from '../support/wait-for.ts'

const KEY = { schedule: 'poll', account: 'default' }
const NOON = new Date('2026-11-20T12:00:00Z')
const log = pino({ level: 'silent' })

const contextOf = ({ pool }: TestStore) => ({ pool, holder: 'test', log })
const take = (store: TestStore, slot = NOON) => takeSlot(contextOf(store), KEY, slot, { evenIfPaused: false })

/** As if no worker had renewed anything for longer than leases live. */
async function expire(store: TestStore): Promise<void> {
  await expireLeases(store.pool)
  await endSlotPauses(store.pool)
}

test('a slot is taken by one of many who try at once', async () => {
  await using store = await openTestStore()
  const leases = (await Promise.all(Array.from({ length: 20 }, () => take(store)))).filter(
    lease => lease !== null,
  )
  expect(leases).toHaveLength(1)
  await leases[0]!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
})

test('a slot is kept for as long as the work takes, and can be settled then', async () => {
  await using store = await openTestStore()
  const lease = await take(store)
  const expiry = async () => (await leasesOf(store.pool))[0]!.expiresAt
  const before = await expiry()
  for (const _ of [1, 2]) {
    const then = await expiry()
    await waitFor(async () => (await expiry()) > then, { what: 'a renewal' })
  }
  expect((await expiry()).getTime() - before.getTime()).toBeGreaterThan(4_000)
  expect(lease!.signal.aborted).toBe(false)
  await lease!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 1, retry_at: null, outcome: 'succeeded' }])
})

test('a slot is not free before its lease expires, whatever its retry_at', async () => {
  await using store = await openTestStore()
  const lease = await take(store)
  await endSlotPauses(store.pool)
  expect(await take(store)).toBeNull()
  expect(
    (await loadScheduleStates(store.pool, [{ ...KEY, slot: NOON }])).states[0]!.open!.freeInMs,
  ).toBeGreaterThan(0)
  await lease!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
})

test('a slot whose lease expired can be settled, as long as no other worker has taken it', async () => {
  await using store = await openTestStore()
  const lease = await take(store)
  await expire(store)
  await lease!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 1, outcome: 'succeeded' }])
  expect(await leasesOf(store.pool)).toEqual([])
})

test('a lease that is not used leaves no row: its slot was done, or waits', async () => {
  await using store = await openTestStore()
  await (await take(store))!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect(await take(store)).toBeNull()
  expect(await leasesOf(store.pool)).toEqual([])
})

test('a worker that lost its slot learns it, and cannot settle it or give it back', async () => {
  await using store = await openTestStore()
  const lost = await take(store)
  await expire(store)
  const taken = await take(store)
  await waitFor(() => lost!.signal.aborted, { what: 'the first to be told' })
  await lost!.end({ to: 'give back' })
  await lost!.end({ to: 'done', outcome: 'failed', supersedes: true })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 2, done_at: null }])
  await taken!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 2, outcome: 'succeeded' }])
})

test('work that succeeded closes the older slots that may be tried now, but not one that a worker is doing', async () => {
  await using store = await openTestStore()
  const minute = (n: number) => new Date(NOON.getTime() + n * 60_000)
  const waiting = await take(store, minute(0))
  await waiting!.end({ to: 'retry after a failure', afterMs: 0 })
  const later = await take(store, minute(-1))
  const atWork = await take(store, minute(1))
  // Longer than its retry_at: only its lease says that a worker is doing it.
  await endSlotPauses(store.pool)
  await later!.end({ to: 'retry after a failure', afterMs: 60_000 })
  const newest = await take(store, minute(2))
  await newest!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect((await listSlots(store.pool)).map(row => row.outcome)).toEqual([
    null,
    'superseded',
    null,
    'succeeded',
  ])
  await atWork!.end({ to: 'done', outcome: 'failed', supersedes: false })
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
    const lease = await takeSlot(contextOf(store), key, slot, { evenIfPaused: false })
    await lease!.end({ to: 'retry after a failure', afterMs: 0 })
  }
  const lease = await take(store)
  await lease!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  expect((await listSlots(store.pool)).filter(row => row.outcome !== null)).toHaveLength(1)
})

test('work that did not succeed closes no other slot', async () => {
  await using store = await openTestStore()
  const older = await take(store, new Date(NOON.getTime() - 60_000))
  await older!.end({ to: 'retry after a failure', afterMs: 0 })
  const lease = await take(store)
  await lease!.end({ to: 'done', outcome: 'failed', supersedes: false })
  expect((await listSlots(store.pool)).map(row => row.outcome)).toEqual([null, 'failed'])
})

test('a paused schedule keeps its slots, except what a person asked for; that of another account does not', async () => {
  await using store = await openTestStore()
  await pauseSchedules(store.pool, [{ ...KEY, account: 'other' }], ADA)
  expect(
    await takeSlot(contextOf(store), { ...KEY, account: 'other' }, NOON, { evenIfPaused: false }),
  ).toBeNull()
  const byHand = await takeSlot(contextOf(store), { ...KEY, account: 'other' }, NOON, { evenIfPaused: true })
  const free = await take(store)
  await byHand!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  await free!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
})

test('an attempt that was given back does not count, and a slot that is done is not open', async () => {
  await using store = await openTestStore()
  await (await take(store))!.end({ to: 'give back' })
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 0, done_at: null }])
  const again = await take(store)
  expect(again!.attempts).toBe(1)
  await again!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
  const { states } = await loadScheduleStates(store.pool, [{ ...KEY, slot: NOON }])
  expect(states).toEqual([{ paused: false, taken: true, isNew: false, open: null }])
})

test('an attempt that was skipped does not count, and its slot waits as long as it is told', async () => {
  await using store = await openTestStore()
  await (await take(store))!.end({ to: 'wait after a skip', afterMs: 3_600_000 })
  const [slot] = await listSlots(store.pool)
  expect(slot).toMatchObject({ attempts: 0, done_at: null, outcome: null })
  expect((slot?.retry_at?.getTime() ?? 0) - Date.now()).toBeGreaterThan(3_000_000)
  expect(await take(store)).toBeNull()
  expect(await leasesOf(store.pool)).toEqual([])
})

test('a slot that waits for its next attempt cannot be taken, nor one that is done', async () => {
  await using store = await openTestStore()
  const lease = await take(store)
  await lease!.end({ to: 'retry after a failure', afterMs: 60_000 })
  expect(await take(store)).toBeNull()
  await endSlotPauses(store.pool)
  const again = await take(store)
  expect(again!.attempts).toBe(2)
  await again!.end({ to: 'done', outcome: 'failed', supersedes: false })
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

/** The same pool, of whose answers to the first insert of a slot one is lost. */
function losingFirstAnswer(pool: Pool): Pool {
  let isLost = false
  return new Proxy(pool, {
    get(target, key) {
      const member: unknown = Reflect.get(target, key)
      if (typeof member !== 'function') return member
      if (key !== 'query') return member.bind(target)
      return async (text: string, values?: unknown[]) => {
        const answer = await target.query(text, values)
        if (isLost || !text.includes('insert into ferry.schedule_slots')) return answer
        isLost = true
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' })
      }
    },
  })
}

test('an attempt whose answer was lost is made, and counted once', async () => {
  await using store = await openTestStore()
  const pool = losingFirstAnswer(store.pool)
  const lease = await takeSlot({ pool, holder: 'test', log }, KEY, NOON, { evenIfPaused: false }).catch(
    () => null,
  )
  if (lease === null) await expire(store)
  const made = lease ?? (await take(store))
  expect(made!.attempts).toBe(1)
  expect(await listSlots(store.pool)).toMatchObject([{ attempts: 1 }])
  await made!.end({ to: 'done', outcome: 'succeeded', supersedes: true })
})
