import { describe, expect, test } from 'vitest'
import { type DuePolicy, decideDue } from '#src/schedules/find-due.ts'
import { slotAt, type Timing } from '#src/schedules/timing.ts'

const HOUR = 3_600_000
const everyMinute = { everyMs: 60_000 }
const nightly = { cron: '30 3 * * *', timezone: 'UTC' }
const night = new Date('2026-11-20T03:30:00Z')
const at = (time: string) => new Date(`2026-11-20T${time}Z`)

describe('what is due', () => {
  const untouched = { paused: false, taken: false, isNew: false, open: null }
  const plan = (
    timing: Timing,
    state: Partial<Parameters<typeof decideDue>[1]>,
    now: Date,
    policy: Partial<DuePolicy> = {},
  ) => {
    const usual = { catchUpMs: 6 * HOUR, installedAt: new Date('2026-01-01T00:00:00Z') }
    const schedule = { timing, slot: slotAt(timing, now) }
    return decideDue(schedule, { ...untouched, ...state }, { ...usual, ...policy }, now)
  }

  test('is a slot that nobody took', () => {
    expect(plan(nightly, {}, at('03:30:03'))).toEqual({ slot: night, trigger: 'schedule' })
    expect(plan(nightly, {}, at('05:00:00'))).toEqual({ slot: night, trigger: 'catch-up' })
    expect(plan(everyMinute, {}, at('05:00:50'))).toEqual({ slot: at('05:00:00'), trigger: 'schedule' })
  })

  test('is on time for half a minute, even if nothing is to be caught up with', () => {
    const barely = (now: Date) => plan(nightly, {}, now, { catchUpMs: 1 })
    expect(barely(at('03:30:29'))).toEqual({ slot: night, trigger: 'schedule' })
    expect(barely(at('03:30:31'))).toBeNull()
  })

  test('is one slot of a hundred that were missed, and what runs every so often does not catch up', () => {
    expect(plan(everyMinute, {}, at('12:34:56'))).toEqual({ slot: at('12:34:00'), trigger: 'schedule' })
  })

  test('is no slot that is older than FERRY_CATCH_UP', () => {
    expect(plan(nightly, {}, at('09:31:00'))).toBeNull()
  })

  test('is until the next one, however late, what is never too late', () => {
    const due = { timing: nightly, slot: night, isNeverTooLate: true } as const
    const policy = { catchUpMs: 6 * HOUR, installedAt: new Date('2026-01-01T00:00:00Z') }
    expect(decideDue(due, untouched, policy, at('23:59:00'))).toEqual({ slot: night, trigger: 'catch-up' })
  })

  test('is no slot that a worker took, whatever came of it', () => {
    expect(plan(nightly, { taken: true }, at('05:00:00'))).toBeNull()
  })

  test('is no cron time from before Ferry was installed, but a poll is due at once', () => {
    const installedAt = at('04:00:00')
    expect(plan(nightly, {}, at('04:00:05'), { installedAt })).toBeNull()
    expect(plan(everyMinute, {}, at('04:00:05'), { installedAt: at('04:00:04') })?.slot).toEqual(
      at('04:00:00'),
    )
  })

  test('is an unfinished slot once it is free, and not long after', () => {
    const waiting = (freeInMs: number) =>
      plan(nightly, { taken: true, open: { slot: night, freeInMs, manual: false } }, at('04:00:00'))
    expect(waiting(1)).toBeNull()
    expect(waiting(0)).toEqual({ slot: night, trigger: 'schedule' })
    expect(waiting(-5 * HOUR)?.slot).toEqual(night)
    expect(waiting(-7 * HOUR)).toBeNull()
  })

  test('is the latest slot only, if an older one is unfinished too', () => {
    const open = { slot: at('10:00:00'), freeInMs: -2 * HOUR, manual: false }
    expect(plan(everyMinute, { open }, at('12:00:30'))?.slot).toEqual(at('12:00:00'))
  })

  test('is nothing that is paused, except what a person asked for', () => {
    expect(plan(nightly, { paused: true }, at('05:00:00'))).toBeNull()
    const open = { slot: night, freeInMs: 0, manual: false }
    expect(plan(nightly, { paused: true, taken: true, open }, at('05:00:00'))).toBeNull()
    const byHand = { slot: at('04:56:07.891'), freeInMs: 0, manual: true }
    expect(plan(nightly, { paused: true, open: byHand }, at('05:00:00'))).toEqual({
      slot: byHand.slot,
      trigger: 'manual',
    })
  })

  test('is what a person asked for, however long no worker was running', () => {
    const open = { slot: at('04:56:07.891'), freeInMs: -70 * HOUR, manual: true }
    expect(plan(nightly, { taken: true, open }, at('05:00:00'))).toEqual({
      slot: open.slot,
      trigger: 'manual',
    })
  })

  test('is a slot of a changed interval as a scheduled one, not as one that a person asked for', () => {
    const open = { slot: at('04:56:07.891'), freeInMs: 0, manual: false }
    expect(plan(everyMinute, { paused: true, taken: true, open }, at('05:00:00'))).toBeNull()
    expect(plan(everyMinute, { taken: true, open }, at('05:00:00'))?.trigger).toBe('schedule')
  })
})
