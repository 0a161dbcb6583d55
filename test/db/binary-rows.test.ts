import { expect, test } from 'vitest'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'

/** The lengths of the texts of rows that have one text each. */
function lengthsIn(copy: Buffer): number[] {
  const lengths: number[] = []
  for (let at = 0; at < copy.length; at += 6 + (lengths.at(-1) ?? 0)) lengths.push(copy.readInt32BE(at + 2))
  return lengths
}

test('a row may be much longer than what there was room for', () => {
  const rows = new BinaryRows(64)
  const lengths = [3, 10_000, 0, 200_000, 1]
  for (const length of lengths) {
    rows.begin(rowStart(1))
    rows.text('é'.repeat(length))
  }
  expect(rows.size).toBe(lengths.reduce((sum, length) => sum + 6 + 2 * length, 0))
  const copy = rows.take()
  expect(lengthsIn(copy)).toEqual(lengths.map(length => 2 * length))
})

test('what was taken stays while the next rows are gathered, and is not in them', () => {
  const rows = new BinaryRows(64)
  const fill = (text: string) => {
    rows.begin(rowStart(1))
    rows.text(text)
    return rows.take()
  }
  const first = fill('a'.repeat(500))
  const second = fill('b')
  expect([first, second].map(lengthsIn)).toEqual([[500], [1]])
  expect(first.includes('b')).toBe(false)
  expect(second.includes('a')).toBe(false)
})

test('wherever the room ends, rows are the same as with room for all', () => {
  const written = (size: number) => {
    const rows = new BinaryRows(size)
    for (let n = 0; n < 3; n++) {
      rows.begin(rowStart(7, 5n))
      rows.integer(2 ** 40 + n)
      rows.boolean(true)
      rows.uuid('x'.repeat(16))
      rows.texts(['a', 'bc'])
      rows.columns('\0\0\0\x01z')
      rows.text(null)
    }
    return rows.take()
  }
  const whole = written(10_000)
  for (let size = 1; size <= whole.length; size++) expect(written(size).equals(whole), `${size}`).toBe(true)
})
