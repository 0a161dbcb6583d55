import { pino } from 'pino'
import { expect, test } from 'vitest'
import { loadInstallation } from '#src/db/installation.ts'
import { pauseSchedules } from '#src/schedules/control.ts'
import type { Schedule } from '#src/schedules/definition.ts'
import { DueFinder } from '#src/schedules/find-due.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'

const DAY_MS = 24 * 3_600_000

/** So long that the latest time of an interval is the first instant of 1970, whenever the test runs. */
const CENTURY_MS = 36_525 * DAY_MS
const SLOT = new Date(0)

const rare = (account: string, more: Partial<Schedule> = {}): Schedule => ({
  schedule: 'poll',
  account,
  timing: { everyMs: CENTURY_MS },
  beginsAtOnce: false,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
  ...more,
})

/** The latest slot, which is done, or may be tried again in so many minutes. */
async function addSlot({ pool }: TestStore, account: string, retryInMinutes: number | null) {
  await pool.query(
    `insert into ferry.schedule_slots (schedule, account, slot, attempts, done_at, outcome, retry_at)
     values ('poll', $1, $2, 1, case when $3::int is null then now() end, case when $3::int is null then 'succeeded' end,
       now() + $3 * interval '1 minute')`,
    [account, SLOT, retryInMinutes],
  )
}

async function openFinder() {
  const store = await openTestStore()
  await loadInstallation(store.pool)
  const finder = new DueFinder({
    pool: store.pool,
    log: pino({ level: 'silent' }),
    catchUpMs: DAY_MS,
    installedAt: new Date(0),
  })
  return Object.assign(store, {
    async find(...schedules: Schedule[]) {
      const { due, later, nextInMs } = await finder.find(schedules)
      return {
        due: due.map(({ schedule, slot }) => [schedule.account, slot.slot, slot.trigger]),
        later: later.map(({ schedule, slot, freeInMs }) => [
          schedule.account,
          slot,
          Math.ceil(freeInMs / 60_000),
        ]),
        nextInMinutes: nextInMs / 60_000,
      }
    },
  })
}

test('a look says what is due, what may be tried again later, and in how long something may be due', async () => {
  await using store = await openFinder()
  await addSlot(store, 'done', null)
  await addSlot(store, 'tried again', -1)
  await addSlot(store, 'waits', 5)
  await addSlot(store, 'waits longer', 20)
  await addSlot(store, 'paused', -1)
  await pauseSchedules(store.pool, [{ schedule: 'poll', account: 'paused' }], ADA)
  const accounts = ['new', 'done', 'waits longer', 'paused', 'tried again', 'waits']
  const found = await store.find(...accounts.map(account => rare(account)))
  expect(found).toEqual({
    due: [
      ['new', SLOT, 'schedule'],
      ['tried again', SLOT, 'schedule'],
    ],
    later: [
      ['waits longer', SLOT, 20],
      ['waits', SLOT, 5],
    ],
    nextInMinutes: expect.closeTo(5, 0),
  })
})

test('what has no slot that waits is due next at its next time; without any schedule nothing is', async () => {
  await using store = await openFinder()
  await addSlot(store, 'done', null)
  expect(await store.find(rare('done'))).toEqual({
    due: [],
    later: [],
    nextInMinutes: expect.closeTo((CENTURY_MS - Date.now()) / 60_000, 0),
  })
  expect(await store.find()).toEqual({ due: [], later: [], nextInMinutes: Number.POSITIVE_INFINITY })
})

test('a schedule that begins at once has its first slot now, once; another one waits for its time', async () => {
  await using store = await openFinder()
  // Half a year ago, and in half a year.
  const month = ((new Date().getUTCMonth() + 6) % 12) + 1
  const timing = { cron: `0 0 1 ${month} *`, timezone: 'UTC' }
  const yearly = (account: string, beginsAtOnce: boolean) =>
    rare(account, { timing, beginsAtOnce, schedule: 'yearly' })
  const schedules = [yearly('waits', false), yearly('begins', true)]
  // Another schedule of the account had one.
  await store.pool.query(
    `insert into ferry.schedule_slots (schedule, account, slot, done_at, outcome) values ('other', 'begins', now(), now(), 'succeeded')`,
  )
  const first = await store.find(...schedules)
  expect(first.due).toEqual([['begins', expect.any(Date), 'schedule']])
  const { rows } = await store.pool.query(
    `select account, slot from ferry.schedule_slots where schedule = 'yearly'`,
  )
  expect(rows).toEqual([{ account: 'begins', slot: first.due[0]?.[1] }])
})
