import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RollingLimits } from '#src/sandbox/limits.ts'
import { maxInAnyWindow, type Received } from '#src/sandbox/received.ts'

const IMPORT = [
  { max: 2, windowMs: 1_000 },
  { max: 20, windowMs: 60_000 },
]

test('a call is admitted exactly when the oldest of a full window has left it', () => {
  const limits = new RollingLimits()
  const at = (nowMs: number) => limits.count('a', IMPORT, nowMs, false)
  expect([at(0), at(400)]).toEqual([{ admitted: true }, { admitted: true }])
  expect(at(999)).toEqual({ admitted: false, freeInMs: 1 })
  expect(at(1_000)).toEqual({ admitted: true })
  expect(at(1_399)).toEqual({ admitted: false, freeInMs: 1 })
})

test('every window must have room, and the longest wait is told', () => {
  const limits = new RollingLimits()
  for (let second = 0; second < 20; second++) limits.count('a', IMPORT, second * 1_000, false)
  expect(limits.count('a', IMPORT, 20_000, false)).toEqual({ admitted: false, freeInMs: 40_000 })
  expect(limits.count('a', IMPORT, 60_000, false)).toEqual({ admitted: true })
})

test('a refused call takes no room, unless it is said to', () => {
  const [lenient, strict] = [new RollingLimits(), new RollingLimits()]
  for (const nowMs of [0, 0, 900]) lenient.count('a', IMPORT, nowMs, false)
  for (const nowMs of [0, 0, 900]) strict.count('a', IMPORT, nowMs, true)
  const second = [1_000, 1_000].map(nowMs => lenient.count('a', IMPORT, nowMs, false).admitted)
  expect(second).toEqual([true, true])
  expect([1_000, 1_000].map(nowMs => strict.count('a', IMPORT, nowMs, true).admitted)).toEqual([true, false])
})

test('what one account does takes nothing from another', () => {
  const limits = new RollingLimits()
  for (const nowMs of [0, 0]) limits.count('a', IMPORT, nowMs, false)
  expect(limits.count('a', IMPORT, 0, false).admitted).toBe(false)
  expect(limits.count('b', IMPORT, 0, false).admitted).toBe(true)
})

test('whatever the times, no rolling window ever holds more admitted calls than its maximum, nor fewer than asked', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 200 }), gaps => {
      const limits = new RollingLimits()
      const admitted: number[] = []
      let nowMs = 0
      for (const gap of gaps) {
        nowMs += gap
        const full = IMPORT.some(
          ({ max, windowMs }) => admitted.filter(time => nowMs - time < windowMs).length >= max,
        )
        const verdict = limits.count('a', IMPORT, nowMs, false)
        expect(verdict.admitted).toBe(!full)
        if (verdict.admitted) admitted.push(nowMs)
      }
    }),
  )
})

test('the most in any window is what counting from every call finds, for the busiest account', () => {
  const call = (bucket: string, countedAt: number | null): Received => ({
    requestId: '',
    operation: 'import-subscribers',
    countedAt,
    bucket,
    accountId: 1n,
    appKey: 'k',
    body: null,
    fault: null,
    status: 200,
    code: null,
  })
  fc.assert(
    fc.property(fc.array(fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 0, max: 300 }))), calls => {
      const inWindowFrom = ([bucket, from]: readonly [string, number]) =>
        calls.filter(([other, time]) => other === bucket && time >= from && time < from + 100).length
      const received = calls.map(([bucket, time]) => call(bucket, time))
      expect(maxInAnyWindow(received, 'import-subscribers', 100)).toBe(
        Math.max(0, ...calls.map(inWindowFrom)),
      )
    }),
  )
  expect(maxInAnyWindow([call('a', null), call('a', 5)], 'import-subscribers', 100)).toBe(1)
  expect(maxInAnyWindow([call('a', 5)], 'list-mcp-servers', 100)).toBe(0)
})
