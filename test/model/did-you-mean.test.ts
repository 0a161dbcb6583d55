import { expect, test } from 'vitest'
import { didYouMean, isNot, nearestOf } from '#src/model/did-you-mean.ts'

test('what is near is named, in any case; what is far is not', () => {
  expect(didYouMean('defualt', ['default', 'other'])).toBe('did you mean default?')
  expect(didYouMean('EU', ['eu-west', 'eu', 'us'])).toBe('did you mean eu?')
  expect(didYouMean('zzz', ['default', 'other'])).toBeNull()
  expect(didYouMean('x', [])).toBeNull()
  expect(didYouMean('noisy', ['rules_nomad', 'Rules_Noisy_ones'])).toBe('did you mean Rules_Noisy_ones?')
  expect(didYouMean('rules_silenced', ['rules_unowned', 'silenced'])).toBe('did you mean silenced?')
  expect(didYouMean('day', ['by_the_day'])).toBeNull()
})

test.for([
  ['four characters of a name', 'rule', ['the_rules_of_all'], 'the_rules_of_all'],
  ['three characters of a name', 'rul', ['the_rules_of_all'], null],
  ['a name of four characters', 'all_the_runs_there_are', ['runs'], 'runs'],
  ['half of the characters', 'abcd', ['abxy'], 'abxy'],
  ['more than half of the characters', 'abcde', ['abxyz'], null],
  ['the nearest of two parts', 'prune', ['prune_everything_old', 'prune_old'], 'prune_old'],
] as const)('near is %s, or not', ([, asked, names, nearest]) => {
  expect(nearestOf(asked, names)).toBe(nearest)
})

test('a name that does not exist is answered with the nearest, or with those that do, each once and at most twenty', () => {
  expect(isNot('an account', 'defualt', ['default', 'other'])).toBe(
    'is not an account; did you mean default?',
  )
  expect(isNot('a schedule', 'zzz', ['nightly', 'prune', 'nightly'])).toBe(
    'is not a schedule; known: nightly, prune',
  )
  expect(isNot('an account', 'x', [])).toBe('is not an account; there is none')
  const many = Array.from({ length: 21 }, (_, n) => `field_${n}`)
  expect(isNot('a field', 'zz', many)).toMatch(/; known: field_0, .*, field_19, …$/)
})
