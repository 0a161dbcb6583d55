import { expect, test } from 'vitest'
import { removeInBatches } from '#src/db/prune.ts'

const NEVER = new AbortController().signal

test('batches are removed up to the last one, and their rows summed', async () => {
  const sizes = [3, 3, 0, 1]
  const batch = async () => {
    const removed = sizes.shift() ?? 0
    return { removed, isLast: sizes.length === 0 }
  }
  expect(await removeInBatches(batch, NEVER)).toBe(7)
  expect(sizes).toEqual([])
})

test('once it is stopped, no further batch is removed', async () => {
  const stop = new AbortController()
  let batches = 0
  const batch = async () => {
    batches += 1
    if (batches === 2) stop.abort()
    return { removed: 1, isLast: batches > 9 }
  }
  expect(await removeInBatches(batch, stop.signal)).toBe(2)
  expect(batches).toBe(2)
})
