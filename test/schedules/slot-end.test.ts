import { expect, test } from 'vitest'
import type { JobStatus } from '#src/model/run.ts'
import { decideSlotEnd, type SlotEnd } from '#src/schedules/slot-lease.ts'

const SCHEDULE = { retryAfterMs: [10, 20], skippedAgainAfterMs: 5 }
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
  expect(decideSlotEnd(SCHEDULE, 1, outcome, false)).toEqual(end)
  expect(decideSlotEnd(SCHEDULE, 1, outcome, true)).toEqual(cutOff)
})

test('a slot that failed is tried again after each pause of its schedule, then no more', () => {
  const ends = [1, 2, 3].map(attempts => decideSlotEnd(SCHEDULE, attempts, 'failed', false))
  expect(ends).toEqual([
    { to: 'retry after a failure', afterMs: 10 },
    { to: 'retry after a failure', afterMs: 20 },
    done('failed', false),
  ])
})

test('a skipped slot is done if its schedule does not try it again', () => {
  const never = { ...SCHEDULE, skippedAgainAfterMs: null }
  expect(decideSlotEnd(never, 1, 'skipped', false)).toEqual(done('skipped', false))
})

function done(outcome: JobStatus, supersedes: boolean): SlotEnd {
  return { to: 'done', outcome, supersedes }
}
