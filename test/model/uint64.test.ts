import { expect, test } from 'vitest'
import { MAX_UINT64, uint64Of } from '#src/model/uint64.ts'

test.for([
  ['0', 0n],
  ['007', 7n],
  ['9007199254740993', 9_007_199_254_740_993n],
  ['18446744073709551615', MAX_UINT64],
  ['18446744073709551616', null],
  ['000000000000000000000', null],
  ['', null],
  ['-1', null],
  ['+1', null],
  ['1.0', null],
  ['1e3', null],
  ['0x1', null],
  [' 1', null],
  ['١', null],
] as const)('%j is the id %s', ([text, id]) => {
  expect(uint64Of(text)).toBe(id)
})
