import { expect, test } from 'vitest'
import { type NextStep, stepsBeside, stepsInWords } from '#src/model/next-step.ts'

const STEPS: readonly NextStep[] = [
  { command: 'ferry runs approve 7', does: 'removes them' },
  { command: 'ferry runs reject 7', does: 'keeps them' },
]

test('next steps are one sentence with every command; without steps there is none', () => {
  expect(stepsInWords(STEPS)).toBe('`ferry runs approve 7` removes them, `ferry runs reject 7` keeps them.')
  expect(stepsInWords([])).toBe('')
})

test('a step that a text names already is left out; a longer command is another one', () => {
  const [approve, reject] = STEPS
  expect(stepsBeside('See `ferry runs approve 7`.', STEPS)).toEqual([reject])
  expect(stepsBeside('See `ferry runs reject 77`, not ferry runs approve 7.', STEPS)).toEqual([
    approve,
    reject,
  ])
  for (const text of [null, undefined, '']) expect(stepsBeside(text, STEPS)).toEqual(STEPS)
})
