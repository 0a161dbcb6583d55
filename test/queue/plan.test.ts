import { describe, expect, test } from 'vitest'
import { planBell, slotOfBell } from '#src/queue/plan.ts'
import { slotAt } from '#src/queue/timing.ts'

const HOUR = 3_600_000
const everyMinute = { everyMs: 60_000 }
const nightly = { cron: '30 3 * * *', timezone: 'UTC' }
const night = new Date('2026-11-20T03:30:00Z')
const at = (time: string) => new Date(`2026-11-20T${time}Z`)

describe('a bell that the queue rings', () => {
  test('stands for the slot it was rung for, though the next has begun', () => {
    const due = slotOfBell(everyMinute, at('12:00:00.001'), 6 * HOUR, at('12:01:05'))
    expect(due).toEqual({ slot: at('12:01:00'), trigger: 'schedule' })
    expect(slotOfBell(everyMinute, at('12:00:59.001'), 6 * HOUR, at('12:01:05'))?.slot).toEqual(
      at('12:00:00'),
    )
  })

  test('stands for the latest slot if it comes hours late, so that many become one', () => {
    expect(slotOfBell(everyMinute, at('10:00:00.001'), 6 * HOUR, at('12:34:56'))?.slot).toEqual(
      at('12:34:00'),
    )
  })

  test('is a catch-up if it is late, and nothing if it is later than that', () => {
    expect(slotOfBell(nightly, night, 6 * HOUR, at('03:30:00.2'))).toEqual({
      slot: night,
      trigger: 'schedule',
    })
    expect(slotOfBell(nightly, night, 6 * HOUR, at('09:29:59'))).toEqual({ slot: night, trigger: 'catch-up' })
    expect(slotOfBell(nightly, night, 6 * HOUR, at('09:30:01'))).toBeNull()
  })

  test('is on time for half a minute, even if nothing is to be caught up with', () => {
    expect(slotOfBell(nightly, night, 1, at('03:30:29'))?.slot).toEqual(night)
    expect(slotOfBell(nightly, night, 1, at('03:30:31'))).toBeNull()
  })
})

describe('the reconciler', () => {
  const untouched = { paused: false, taken: false, open: null }
  const longAgo = new Date('2026-01-01T00:00:00Z')
  const plan = (
    timing: Parameters<typeof planBell>[0],
    state: Partial<Parameters<typeof planBell>[2]>,
    now: Date,
  ) => planBell(timing, slotAt(timing, now), { ...untouched, ...state }, longAgo, 6 * HOUR, now)

  test('rings for a slot that nobody took', () => {
    expect(plan(nightly, {}, at('03:30:03'))).toEqual({ slot: night, trigger: 'schedule' })
    expect(plan(nightly, {}, at('05:00:00'))).toEqual({ slot: night, trigger: 'catch-up' })
    expect(plan(everyMinute, {}, at('05:00:50'))).toEqual({ slot: at('05:00:00'), trigger: 'schedule' })
  })

  test('gives the queue two seconds first', () => {
    expect(plan(nightly, {}, at('03:30:01'))).toBeNull()
  })

  test('lets a slot pass that is older than FERRY_CATCH_UP', () => {
    expect(plan(nightly, {}, at('09:31:00'))).toBeNull()
  })

  test('lets a slot alone that somebody took, whatever came of it', () => {
    expect(plan(nightly, { taken: true }, at('05:00:00'))).toBeNull()
  })

  test('does not catch up with cron times from before Ferry was installed, but polls at once', () => {
    const installedAt = at('04:00:00')
    expect(planBell(nightly, night, untouched, installedAt, 6 * HOUR, at('04:00:05'))).toBeNull()
    expect(
      planBell(everyMinute, at('04:00:00'), untouched, at('04:00:04'), 6 * HOUR, at('04:00:05'))?.slot,
    ).toEqual(at('04:00:00'))
  })

  test('rings for an unfinished slot once it is free, and not long after', () => {
    const waiting = (freeInMs: number) =>
      plan(nightly, { taken: true, open: { slot: night, freeInMs } }, at('04:00:00'))
    expect(waiting(1)).toBeNull()
    expect(waiting(0)).toEqual({ slot: night, trigger: 'schedule' })
    expect(waiting(-5 * HOUR)?.slot).toEqual(night)
    expect(waiting(-7 * HOUR)).toBeNull()
  })

  test('rings for the latest slot only, if an older one is unfinished too', () => {
    const open = { slot: at('10:00:00'), freeInMs: -2 * HOUR }
    expect(plan(everyMinute, { open }, at('12:00:30'))?.slot).toEqual(at('12:00:00'))
  })

  test('rings for nothing that is paused, except what a person asked for', () => {
    expect(plan(nightly, { paused: true }, at('05:00:00'))).toBeNull()
    const open = { slot: night, freeInMs: 0 }
    expect(plan(nightly, { paused: true, taken: true, open }, at('05:00:00'))).toBeNull()
    const byHand = { slot: at('04:56:07.891'), freeInMs: 0 }
    expect(plan(nightly, { paused: true, open: byHand }, at('05:00:00'))).toEqual({
      slot: byHand.slot,
      trigger: 'manual',
    })
  })
})
