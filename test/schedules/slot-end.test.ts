import { expect, test } from 'vitest'
import type { JobStatus } from '#src/model/run.ts'
import { decideSlotEnd, type SlotEnd } from '#src/schedules/slot-lease.ts'

const SCHEDULE = { timing: { everyMs: 60_000 }, retryAfterMs: [10, 20], skippedAgainAfterMs: 5 }
const GIVE_BACK: SlotEnd = { to: 'give back' }

test.for<[JobStatus, SlotEnd, SlotEnd]>([
  ['succeeded', done('succeeded', true), done('succeeded', true)],
  ['partial', done('partial', true), done('partial', true)],
  ['held', done('held', true), done('held', true)],
  ['failed', { to: 'retry after a failure', afterMs: 10 }, GIVE_BACK],
  ['skipped', { to: 'wait after a skip', afterMs: 5 }, GIVE_BACK],
  ['yielded', GIVE_BACK, GIVE_BACK],
  ['stopped', GIVE_BACK, GIVE_BACK],
])('what becomes of a slot whose job %s, and if the job was cut off', ([outcome, end, cutOff]) => {
  expect(decideSlotEnd(SCHEDULE, 1, ended(outcome), false)).toEqual(end)
  expect(decideSlotEnd(SCHEDULE, 1, ended(outcome), true)).toEqual(cutOff)
})

test('a slot that failed is tried again after each pause of its schedule, then no more', () => {
  const ends = [1, 2, 3].map(attempts => decideSlotEnd(SCHEDULE, attempts, ended('failed'), false))
  expect(ends).toEqual([
    { to: 'retry after a failure', afterMs: 10 },
    { to: 'retry after a failure', afterMs: 20 },
    done('failed', false),
  ])
})

test('a slot whose key was refused is tried again every 20 seconds until the next is due, not one of a cron time', () => {
  const refused = { status: 'failed', isRefused: true } as const
  const interval = { ...SCHEDULE, retryAfterMs: [] }
  const ends = [1, 2, 3].map(attempts => decideSlotEnd(interval, attempts, refused, false))
  const again: SlotEnd = { to: 'retry after a failure', afterMs: 20_000 }
  expect(ends).toEqual([again, again, done('failed', false)])
  const nightly = { ...interval, timing: { cron: '0 3 * * *', timezone: 'UTC' } }
  expect(decideSlotEnd(nightly, 1, refused, false)).toEqual(done('failed', false))
})

test('a skipped slot is done if its schedule does not try it again', () => {
  const never = { ...SCHEDULE, skippedAgainAfterMs: null }
  expect(decideSlotEnd(never, 1, ended('skipped'), false)).toEqual(done('skipped', false))
})

function ended(status: JobStatus) {
  return { status, isRefused: false }
}

function done(outcome: JobStatus, supersedes: boolean): SlotEnd {
  return { to: 'done', outcome, supersedes }
}
