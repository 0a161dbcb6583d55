import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { readClock } from '#src/db/clock.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { loadScheduleStates } from '#src/schedules/schedule-states.ts'
import { takeSlot } from '#src/schedules/slot-lease.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const NOON = new Date('2026-11-20T12:00:00Z')
const ONE = new Date('2026-11-20T13:00:00Z')

async function take(store: TestStore, account: string, slot: Date, schedule = 'poll') {
  const context = { pool: store.pool, holder: 'test', log: pino({ level: 'silent' }) }
  const lease = await takeSlot(context, { schedule, account }, slot, { evenIfPaused: false })
  if (!lease) throw new Error('the slot is taken')
  return lease
}

test('a slot that one account has taken is not taken for another', async () => {
  await using store = await openTestStore()
  await (await take(store, 'one', NOON)).end({ to: 'done', outcome: 'succeeded', supersedes: true })
  const asked = ['one', 'two'].map(account => ({ schedule: 'poll', account, slot: NOON }))
  expect((await loadScheduleStates(store.pool, asked)).states).toMatchObject([
    { taken: true },
    { taken: false },
  ])
})

test('of several slots that are to be tried again the latest is the open one', async () => {
  await using store = await openTestStore()
  for (const slot of [ONE, NOON])
    await (await take(store, 'one', slot)).end({ to: 'retry after a failure', afterMs: 60_000 })
  const { states } = await loadScheduleStates(store.pool, [{ schedule: 'poll', account: 'one', slot: ONE }])
  const [state] = states
  expect(state?.open?.slot).toEqual(ONE)
})

test('a slot that is to be tried again is open for its own schedule and account alone', async () => {
  await using store = await openTestStore()
  await (await take(store, 'one', NOON, 'night')).end({ to: 'retry after a failure', afterMs: 60_000 })
  await (await take(store, 'two', ONE)).end({ to: 'retry after a failure', afterMs: 60_000 })
  const asked = ['one', 'two'].flatMap(account =>
    ['night', 'poll'].map(schedule => ({ schedule, account, slot: NOON })),
  )
  const { states } = await loadScheduleStates(store.pool, asked)
  const untouched = { paused: false, taken: false, isNew: true, open: null }
  const open = (slot: Date) => ({ slot, manual: false, freeInMs: expect.closeTo(60_000, -4) })
  expect(states).toEqual([
    { paused: false, taken: true, isNew: false, open: open(NOON) },
    untouched,
    untouched,
    { paused: false, taken: false, isNew: false, open: open(ONE) },
  ])
})

test('the first look asks for the slots of the time that it is in the database', async () => {
  await using store = await openTestStore()
  const { now } = await readClock(store.pool)
  const finder = new DueFinder({
    pool: store.pool,
    log: pino({ level: 'silent' }),
    catchUpMs: 0,
    installedAt: new Date(0),
  })
  const hourly = { schedule: 'poll', account: 'one', timing: { everyMs: 3_600_000 } } as const
  vi.useFakeTimers({ toFake: ['Date'], now: now.getTime() - 24 * 3_600_000 })
  try {
    const { due } = await finder.find([
      { ...hourly, beginsAtOnce: false, retryAfterMs: [], skippedAgainAfterMs: null },
    ])
    expect(due.map(({ slot }) => now.getTime() - slot.slot.getTime() < 3_600_000)).toEqual([true])
  } finally {
    vi.useRealTimers()
  }
})
