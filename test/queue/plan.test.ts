import { describe, expect, test } from 'vitest'
import { planBell } from '#src/queue/plan.ts'
import { slotAt } from '#src/queue/timing.ts'

const HOUR = 3_600_000
const everyMinute = { everyMs: 60_000 }
const nightly = { cron: '30 3 * * *', timezone: 'UTC' }
const night = new Date('2026-11-20T03:30:00Z')
const at = (time: string) => new Date(`2026-11-20T${time}Z`)

describe('the reconciler', () => {
  const untouched = { paused: false, taken: false, isNew: false, open: null }
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

  test('is on time for half a minute, even if nothing is to be caught up with', () => {
    const barely = (now: Date) => planBell(nightly, night, untouched, longAgo, 1, now)
    expect(barely(at('03:30:29'))).toEqual({ slot: night, trigger: 'schedule' })
    expect(barely(at('03:30:31'))).toBeNull()
  })

  test('makes one run of a hundred missed slots, and no catch-up of what runs every so often', () => {
    expect(plan(everyMinute, {}, at('12:34:56'))).toEqual({ slot: at('12:34:00'), trigger: 'schedule' })
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
      plan(nightly, { taken: true, open: { slot: night, freeInMs, manual: false } }, at('04:00:00'))
    expect(waiting(1)).toBeNull()
    expect(waiting(0)).toEqual({ slot: night, trigger: 'schedule' })
    expect(waiting(-5 * HOUR)?.slot).toEqual(night)
    expect(waiting(-7 * HOUR)).toBeNull()
  })

  test('rings for the latest slot only, if an older one is unfinished too', () => {
    const open = { slot: at('10:00:00'), freeInMs: -2 * HOUR, manual: false }
    expect(plan(everyMinute, { open }, at('12:00:30'))?.slot).toEqual(at('12:00:00'))
  })

  test('rings for nothing that is paused, except what a person asked for', () => {
    expect(plan(nightly, { paused: true }, at('05:00:00'))).toBeNull()
    const open = { slot: night, freeInMs: 0, manual: false }
    expect(plan(nightly, { paused: true, taken: true, open }, at('05:00:00'))).toBeNull()
    const byHand = { slot: at('04:56:07.891'), freeInMs: 0, manual: true }
    expect(plan(nightly, { paused: true, open: byHand }, at('05:00:00'))).toEqual({
      slot: byHand.slot,
      trigger: 'manual',
    })
  })

  test('takes a slot of a changed interval for what it is, not for one that a person asked for', () => {
    const open = { slot: at('04:56:07.891'), freeInMs: 0, manual: false }
    expect(plan(everyMinute, { paused: true, taken: true, open }, at('05:00:00'))).toBeNull()
    expect(plan(everyMinute, { taken: true, open }, at('05:00:00'))?.trigger).toBe('schedule')
  })
})
