import { expect, test } from 'vitest'
import { EXIT, gravest } from '#src/cli/exit.ts'

/** As the README has it: 130 before all; of the others the first of 2, 4, 5, 1, 3. */
const FROM_THE_GRAVEST = [130, 2, 4, 5, 1, 3, 0] as const

test('of several outcomes the gravest is the exit code, whatever their order', () => {
  for (const [n, graver] of FROM_THE_GRAVEST.entries()) {
    for (const lesser of FROM_THE_GRAVEST.slice(n)) {
      expect(gravest([graver, lesser])).toBe(graver)
      expect(gravest([lesser, graver])).toBe(graver)
    }
  }
  expect(gravest([])).toBe(EXIT.done)
  expect(gravest([...FROM_THE_GRAVEST].reverse())).toBe(EXIT.interrupted)
})

test('each outcome has the number that the README gives it', () => {
  expect(EXIT).toEqual({
    done: 0,
    failed: 1,
    usage: 2,
    partial: 3,
    refused: 4,
    undecided: 5,
    interrupted: 130,
  })
})
