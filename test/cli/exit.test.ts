import { expect, test } from 'vitest'
import { EXIT, type ExitCode, gravest } from '#src/cli/exit.ts'

const GRAVEST_FIRST: readonly ExitCode[] = [130, 2, 4, 5, 1, 3, 0]

test('of several exit codes the first of 130, 2, 4, 5, 1, 3 counts, in whatever order they come', () => {
  expect(GRAVEST_FIRST.toSorted()).toEqual(Object.values(EXIT).toSorted())
  for (const [at, graver] of GRAVEST_FIRST.entries()) {
    expect(gravest([graver])).toBe(graver)
    for (const other of GRAVEST_FIRST.slice(at)) {
      expect(gravest([graver, other, EXIT.done])).toBe(graver)
      expect(gravest([EXIT.done, other, graver])).toBe(graver)
    }
  }
  expect(gravest([])).toBe(EXIT.done)
})
