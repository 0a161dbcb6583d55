import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { momentNow, msSince } from '#src/model/moment.ts'

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['Date', 'performance'] })
})
afterEach(() => {
  vi.useRealTimers()
})

test('a moment is as long ago as both clocks say, after the machine slept and after a clock was set back', () => {
  const moment = momentNow()
  vi.advanceTimersByTime(500)
  expect(msSince(moment)).toBe(500)
  // The monotonic clock stands still while the machine sleeps.
  vi.setSystemTime(Date.now() + 3_600_000)
  expect(msSince(moment)).toBe(3_600_500)
  vi.setSystemTime(Date.now() - 7_200_000)
  expect(msSince(moment)).toBe(500)
})
