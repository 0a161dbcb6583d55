import { expect, test } from 'vitest'
import { duration } from '#src/model/duration.ts'

test.each([
  [0, '0 ms'],
  [999, '999 ms'],
  [999.7, '1 s'],
  [2_100, '2.1 s'],
  [4_000, '4 s'],
  [60_000, '1 min'],
  [245_000, '4 min 5 s'],
  [3_605_000, '1 h'],
  [86_400_000 + 5_000, '1 d'],
  [183_600_000, '2 d 3 h'],
  [-245_000, '−4 min 5 s'],
])('%d ms are %s', (ms, words) => {
  expect(duration(ms)).toBe(words)
})
