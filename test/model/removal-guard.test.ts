import { expect, test } from 'vitest'
import { describeGuard, isSuspicious } from '#src/model/removal-guard.ts'

const GUARD = { rows: 10, share: 0.2 }

test('as many as the greater of the two bounds may go; one more is for a person', () => {
  expect(isSuspicious(10, 30, GUARD)).toBe(false)
  expect(isSuspicious(11, 30, GUARD)).toBe(true)
  expect(isSuspicious(200, 1_000, GUARD)).toBe(false)
  expect(isSuspicious(201, 1_000, GUARD)).toBe(true)
})

test('all there is may never go unasked, and nothing gone asks nobody', () => {
  expect(isSuspicious(1, 1, GUARD)).toBe(true)
  expect(isSuspicious(3, 3, { rows: 100, share: 1 })).toBe(true)
  expect(isSuspicious(0, 0, GUARD)).toBe(false)
  expect(isSuspicious(0, 5, { rows: 0, share: 0 })).toBe(false)
})

test('a share is what was written, in the decision and in the ledger', () => {
  for (const percent of [7, 29, 57, 58, 12.5]) {
    const guard = { rows: 2, share: percent / 100 }
    expect(describeGuard(guard)).toBe(`2,${percent}%`)
    expect(isSuspicious(percent * 10, 1_000, guard)).toBe(false)
    expect(isSuspicious(percent * 10 + 1, 1_000, guard)).toBe(true)
  }
})
