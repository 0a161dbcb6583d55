import { expect, test } from 'vitest'
import { closesItself, opensInside } from '#src/imports/staging/file/quotes.ts'

test.for([
  ['she said "stop', true],
  ['she said ("stop', true],
  ['(see:"stop', true],
  ['("stop', true],
  ['["stop', true],
  ['said:"stop', true],
  ['6"x', false],
  ['she said "stop"', false],
  ['she said "stop" and "go', true],
  ['she said " stop', false],
  ['she said ""stop', false],
  ['she said "stop\nand" go', true],
] as const)('in %j the quote opens a quotation that its line does not close: %s', ([text, isOpen]) => {
  const at = text.indexOf('"')
  expect(opensInside(text, at)).toBe(isOpen)
})

test.for([
  ['"Ada "the" C",yes', true],
  ['"He said "hello"', false],
  ['"Ada "the" C"', true],
  ['"Ada "the" C"  \nnext"', true],
  ['"Ada "the" C" x', false],
  ['"Ada "the" C";yes', false],
] as const)('%j closes each quote that it opens: %s', ([text, closes]) => {
  expect(closesItself(text, 0, ','.charCodeAt(0))).toBe(closes)
})
