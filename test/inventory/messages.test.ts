import { expect, test } from 'vitest'
import { messageOn } from '#src/inventory/messages.ts'

const held = (ids: readonly string[], rejected: readonly string[]) =>
  messageOn({ kind: 'hold', ids, current: 20, rejected, foundGone: ids } as never, 9n)

const NEXT =
  'nothing was removed. See `ferry runs show 9`, then `ferry runs approve 9` or `ferry runs reject 9`.'

test('a hold says how many rows are gone, and which were kept by a decision before', () => {
  expect(held(['1', '2'], [])).toBe(`2 of 20 rows are gone from the listing; ${NEXT}`)
  expect(held(['1'], ['7'])).toBe(
    `1 more of 20 rows is gone from the listing; 1 other was kept by a decision on run 7; ${NEXT}`,
  )
  expect(held(['1', '2'], ['7', '8', '7'])).toBe(
    `2 more of 20 rows are gone from the listing; 3 others were kept by a decision on runs 7, 8; ${NEXT}`,
  )
})
