import { expect, test } from 'vitest'
import { createCapacity } from '#src/worker/capacity.ts'

test('an account has so many jobs under way and no more, until one of them ends; each account for itself', () => {
  const capacity = createCapacity(2)
  const [first, second] = [capacity.take('a'), capacity.take('a')]
  expect([first, second]).toEqual([expect.any(Function), expect.any(Function)])
  expect(capacity.take('a')).toBeNull()
  const other = capacity.take('b')
  expect(other).not.toBeNull()
  first?.()
  const third = capacity.take('a')
  expect(third).not.toBeNull()
  expect(capacity.take('a')).toBeNull()
  for (const end of [second, third, other]) end?.()
  expect([capacity.take('a'), capacity.take('a'), capacity.take('a')]).toEqual([
    expect.any(Function),
    expect.any(Function),
    null,
  ])
})
