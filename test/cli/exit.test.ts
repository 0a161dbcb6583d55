import { expect, test } from 'vitest'
import { EXIT, gravest } from '#src/cli/exit.ts'

test('of several exit codes the first of 130, 2, 4, 5, 1 and 3 counts, in whatever order they come', () => {
  const ORDER = [130, 2, 4, 5, 1, 3, 0] as const
  expect(Object.values(EXIT).toSorted((a, b) => a - b)).toEqual(ORDER.toSorted((a, b) => a - b))
  for (const [n, code] of ORDER.entries()) {
    expect(gravest(ORDER.slice(n))).toBe(code)
    expect(gravest(ORDER.slice(n).toReversed())).toBe(code)
    for (const lesser of ORDER.slice(n)) expect(gravest([lesser, code])).toBe(code)
  }
  expect(gravest([])).toBe(0)
})
