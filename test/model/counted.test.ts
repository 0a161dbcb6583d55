import { expect, test } from 'vitest'
import { counted, number } from '#src/model/counted.ts'

test('a count has groups of three, and its word is plural unless it is one', () => {
  expect([0, 1, 2, 1_234].map(rows => counted(rows, 'row'))).toEqual([
    '0 rows',
    '1 row',
    '2 rows',
    '1,234 rows',
  ])
  expect([1, 12_000].map(batches => counted(batches, 'batch', 'batches'))).toEqual([
    '1 batch',
    '12,000 batches',
  ])
  expect(number(2n ** 64n - 1n)).toBe('18,446,744,073,709,551,615')
})
