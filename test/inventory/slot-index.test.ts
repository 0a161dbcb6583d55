import { expect, test } from 'vitest'
import { SlotIndex } from '#src/inventory/read/slot-index.ts'

const HUNDRED = Array.from({ length: 100 }, (_, n) => n)

test('an index finds each row by its hash, and looks at a few rows to find that there is none, however many it has', () => {
  const hashes = new Map<number, number | null>()
  const index = new SlotIndex(row => hashes.get(row) ?? null)
  while (hashes.size < 20_000) {
    for (const _ of HUNDRED) {
      const row = hashes.size
      hashes.set(row, row % 10 === 0 ? null : row * 64)
      index.add(row, hashes.size)
    }
    let looks = 0
    const findUnknown = (n: number) =>
      index.find(n * 64 + 1, () => {
        looks += 1
        return false
      })
    expect(new Set(HUNDRED.map(findUnknown))).toEqual(new Set([-1]))
    expect(looks, `${hashes.size} rows`).toBeLessThan(1_000)
  }
  for (const [row, hash] of hashes) {
    expect(index.find(hash ?? row * 64, one => one === row)).toBe(hash === null ? -1 : row)
  }
})
