import { expect, test } from 'vitest'
import { listActs } from '#src/db/audit.ts'
import {
  isAnySlotOpen,
  listPausedAccounts,
  listPauses,
  pauseSchedules,
  resumeSchedules,
} from '#src/schedules/control.ts'
import { EVERY_ACCOUNT, type Schedule } from '#src/schedules/definition.ts'
import { listSchedules } from '#src/schedules/list-schedules.ts'
import { listRecentSlots } from '#src/schedules/recent-slots.ts'
import { SCHEDULE_CHECKS } from '#src/schedules/verify.ts'
import { ADA } from '#test/support/acted-by.ts'
import { openTestStore, type TestStore } from '#test/support/store.ts'
import { brokenPromises } from '#test/support/verify.ts'

const at = (time: string) => new Date(`2026-11-20T${time}Z`)

const poll = (account: string): Schedule => ({
  schedule: 'poll',
  account,
  timing: { everyMs: 60_000 },
  beginsAtOnce: false,
  retryAfterMs: [],
  skippedAgainAfterMs: null,
})
const nightly: Schedule = {
  ...poll(EVERY_ACCOUNT),
  schedule: 'nightly',
  timing: { cron: '30 3 1 1 *', timezone: 'Europe/Berlin' },
}

type Slot = Readonly<{
  account?: string
  schedule?: string
  time: string
  outcome?: string
  retryAt?: string
}>

async function addSlots({ pool }: TestStore, slots: readonly Slot[]): Promise<void> {
  for (const { account = 'a', schedule = 'poll', time, outcome, retryAt } of slots) {
    await pool.query(
      `insert into ferry.schedule_slots (account, schedule, slot, done_at, outcome, retry_at)
       values ($1, $2, $3::timestamptz, case when $4::text is not null then $3::timestamptz + interval '1 s' end, $4, $5)`,
      [account, schedule, at(time), outcome ?? null, retryAt ?? null],
    )
  }
}

test('each schedule is listed with its last slot and its next time; a paused one has no next time', async () => {
  await using store = await openTestStore()
  await addSlots(store, [
    { time: '12:00:00', outcome: 'failed' },
    { time: '12:01:00', outcome: 'succeeded' },
    { account: 'b', time: '12:02:00' },
    { account: EVERY_ACCOUNT, schedule: 'nightly', time: '02:30:00', outcome: 'held' },
    { account: 'a', schedule: 'other', time: '13:00:00', outcome: 'partial' },
  ])
  await pauseSchedules(store.pool, [{ schedule: 'poll', account: 'b' }], ADA)
  await pauseSchedules(store.pool, [{ schedule: 'other', account: 'a' }], ADA)
  const ofPoll = { name: 'poll', everyMs: 60_000, cron: null, timezone: null }
  const [first, ...others] = await listSchedules(store.pool, [poll('a'), poll('b'), nightly, poll('c')])
  expect([first, ...others]).toEqual([
    {
      ...ofPoll,
      account: 'a',
      paused: false,
      nextAt: expect.any(Date),
      lastSlot: at('12:01:00'),
      lastOutcome: 'succeeded',
    },
    { ...ofPoll, account: 'b', paused: true, nextAt: null, lastSlot: at('12:02:00'), lastOutcome: null },
    {
      name: 'nightly',
      account: EVERY_ACCOUNT,
      everyMs: null,
      cron: '30 3 1 1 *',
      timezone: 'Europe/Berlin',
      paused: false,
      nextAt: expect.any(Date),
      lastSlot: at('02:30:00'),
      lastOutcome: 'held',
    },
    { ...ofPoll, account: 'c', paused: false, nextAt: expect.any(Date), lastSlot: null, lastOutcome: null },
  ])
  expect(others[1]?.nextAt?.toISOString()).toMatch(/^\d{4}-01-01T02:30:00\.000Z$/)
  expect((first?.nextAt?.getTime() ?? 0) - Date.now()).toBeLessThanOrEqual(60_000)
})

test('the last slots of each schedule are listed, the oldest first', async () => {
  await using store = await openTestStore()
  await addSlots(store, [
    { time: '12:03:00' },
    { time: '12:01:00', outcome: 'succeeded' },
    { time: '12:00:00', outcome: 'failed' },
    { account: 'b', time: '12:02:00', outcome: 'held' },
    { schedule: 'other', time: '12:04:00', outcome: 'held' },
  ])
  const slot = (account: string, time: string, outcome: string | null) => ({
    schedule: 'poll',
    account,
    slot: at(time),
    doneAt: outcome === null ? null : new Date(at(time).getTime() + 1_000),
    outcome,
  })
  const schedules = ['a', 'b', 'c'].map(account => ({ schedule: 'poll', account }))
  expect(await listRecentSlots(store.pool, schedules, 2)).toEqual([
    slot('a', '12:01:00', 'succeeded'),
    slot('b', '12:02:00', 'held'),
    slot('a', '12:03:00', null),
  ])
})

test('what is paused is listed by name and account, and only what was paused is resumed and recorded', async () => {
  await using store = await openTestStore()
  const { pool } = store
  const keys = [
    { schedule: 'poll', account: 'b' },
    { schedule: 'other', account: 'c' },
    { schedule: 'poll', account: 'a' },
  ]
  await pauseSchedules(pool, keys, ADA)
  const [, other, first] = keys
  expect(await listPauses(pool)).toEqual([other, first, keys[0]])
  expect(await listPausedAccounts(pool, 'poll')).toEqual(['a', 'b'])
  expect(await listPausedAccounts(pool, 'other')).toEqual(['c'])
  expect(await listPausedAccounts(pool, 'nothing')).toEqual([])
  // Nothing is named, so nothing is resumed.
  expect(await resumeSchedules(pool, [], ADA)).toEqual([])
  expect(await listPauses(pool)).toHaveLength(3)
  const asked = [first, { schedule: 'poll', account: 'c' }].filter(key => key !== undefined)
  expect(await resumeSchedules(pool, asked, ADA)).toEqual([first])
  expect(await listPauses(pool)).toEqual([other, keys[0]])
  const acts = await listActs(pool, 9)
  expect(acts.map(({ action, account, subject }) => `${action} ${subject} ${account}`).toSorted()).toEqual([
    'pause other c',
    'pause poll a',
    'pause poll b',
    'resume poll a',
  ])
})

test('a slot is open until it is done, or was left a day ago', async () => {
  await using store = await openTestStore()
  const { pool } = store
  expect(await isAnySlotOpen(pool)).toBe(false)
  await addSlots(store, [{ time: '12:00:00', outcome: 'succeeded' }, { time: '12:01:00' }])
  const openAfter = async (retryAt: string, more = '') => {
    await pool.query(
      `update ferry.schedule_slots set retry_at = now() ${retryAt} where outcome is null ${more}`,
    )
    return await isAnySlotOpen(pool)
  }
  expect(await openAfter(`+ interval '1 hour'`)).toBe(true)
  expect(await openAfter(`- interval '23 hours'`)).toBe(true)
  expect(await openAfter(`- interval '25 hours'`)).toBe(false)
  await pool.query(`update ferry.schedule_slots set retry_at = now(), done_at = now()`)
  expect(await isAnySlotOpen(pool)).toBe(false)
})

test('what breaks a promise about schedules is named with its schedule, its account and its slot', async () => {
  await using store = await openTestStore()
  const { pool } = store
  await pauseSchedules(pool, [{ schedule: 'poll', account: 'a' }], ADA)
  await addSlots(store, [
    { time: '12:00:00', outcome: 'succeeded' },
    { time: '12:01:00', retryAt: '2026-11-20T12:02:00Z' },
  ])
  expect(await brokenPromises(pool, SCHEDULE_CHECKS)).toEqual([])
  // Of another account, another schedule and another act, somebody is recorded.
  await pool.query(
    `insert into ferry.schedule_pauses (schedule, account) values ('poll', 'b'), ('other', 'a')`,
  )
  await pool.query(
    `insert into ferry.schedule_slots (schedule, account, slot, manual, done_at, outcome, retry_at) values
       ('poll', 'a', '2026-11-20T13:00:00Z', true, null, null, now()),
       ('poll', 'a', '2026-11-20T14:00:00Z', false, now(), null, null),
       ('poll', 'a', '2026-11-20T15:00:00Z', false, null, 'succeeded', now()),
       ('poll', 'a', '2026-11-20T16:00:00Z', false, now(), 'succeeded', now())`,
  )
  const nobody = (key: string) =>
    `schedules by hand: ferry.audit: nobody is recorded who paused or ran ${key.replace(' ', ' of account ')}`
  const neither = (hour: number) =>
    `slots: ferry.schedule_slots: the slot 2026-11-20T${hour}:00:00.000Z of poll, account a, is neither due nor done`
  expect((await brokenPromises(pool, SCHEDULE_CHECKS)).toSorted()).toEqual([
    nobody('other a'),
    nobody('poll a'),
    nobody('poll b'),
    neither(14),
    neither(15),
    neither(16),
  ])
  expect(SCHEDULE_CHECKS.map(({ name, holds, whatToDo }) => [name, holds, whatToDo])).toEqual([
    [
      'schedules by hand',
      'who paused a schedule, or had it run, is in the audit',
      'A row of ferry.audit is missing: compare it with a backup.',
    ],
    [
      'slots',
      'a slot is due, or done with an outcome',
      'As the owner of the table, remove the row. The next slot runs as it should.',
    ],
  ])
})
