import { expect, test } from 'vitest'
import { MAX_STORED_ROWS, Quarantine } from '#src/inventory/read/quarantine.ts'

const row = (position: number, id: string | null = '1', raw: string | null = null) => ({
  position,
  id,
  reason: 'broken',
  raw,
})

function quarantineOf(...rows: ReturnType<typeof row>[]): Quarantine {
  const quarantine = new Quarantine()
  for (const one of rows) quarantine.add(one)
  return quarantine
}

const positionsOf = (quarantine: Quarantine) =>
  [...quarantine.byFingerprint()].map(([, kept]) => kept?.position ?? null)

test('positions are counted through, whatever the listings before had', () => {
  const all = quarantineOf(row(2))
  all.append(quarantineOf(row(0), row(2, '2')), 3)
  all.append(quarantineOf(row(1)), 10)
  expect(all.size).toBe(4)
  expect(positionsOf(all)).toEqual([2, 3, 5, 11])
})

test('an id cannot be read only where a row came without one, in whichever listing', () => {
  expect(quarantineOf(row(0), row(1)).hasUnreadableId).toBe(false)
  expect(quarantineOf(row(0, null), row(1)).hasUnreadableId).toBe(true)
  const all = quarantineOf(row(0))
  all.append(quarantineOf(row(0, null)), 1)
  expect(all.hasUnreadableId).toBe(true)
})

test('of very many rows twice as many are kept as are stored, and all are recognised', () => {
  const count = 2 * MAX_STORED_ROWS + 3
  const quarantine = quarantineOf(...Array.from({ length: count }, (_, n) => row(n, `${n}`)))
  const positions = positionsOf(quarantine)
  expect(positions.filter(position => position !== null)).toHaveLength(2 * MAX_STORED_ROWS)
  expect(positions).toHaveLength(count)
})

test('of many listings together no more are kept than of one, and all are recognised', () => {
  const count = MAX_STORED_ROWS + 1
  const long = 'x'.repeat(1024 * 1024)
  const ofListing = (from: number) => Array.from({ length: count }, (_, n) => row(n, `${from + n}`))
  const all = new Quarantine()
  for (let listing = 0; listing < 3; listing++) {
    all.append(quarantineOf(...ofListing(listing * count)), listing * count)
  }
  const positions = positionsOf(all)
  expect(positions.filter(position => position !== null)).toHaveLength(2 * MAX_STORED_ROWS)
  expect(positions).toHaveLength(3 * count)
  const few = new Quarantine()
  for (let n = 0; n < 3; n++) few.append(quarantineOf(...Array(10).fill(row(n, `${n}`, long))), n)
  expect(positionsOf(few).filter(position => position !== null)).toHaveLength(16)
})

test('of very long rows fewer are kept, and all are recognised', () => {
  const rows = Array.from({ length: 40 }, (_, n) => row(n, `${n}`, 'x'.repeat(1024 * 1024)))
  const positions = positionsOf(quarantineOf(...rows))
  expect(positions.filter(position => position !== null)).toHaveLength(16)
  expect(positions).toHaveLength(40)
})

test('a hundred thousand rows that are alike are told apart in a moment', () => {
  const quarantine = new Quarantine()
  for (let n = 0; n < 100_000; n++) quarantine.add(row(n, null))
  const fingerprints = new Set<string>()
  for (const [fingerprint] of quarantine.byFingerprint()) fingerprints.add(fingerprint)
  expect(fingerprints.size).toBe(100_000)
})
