import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { ListedRows, RowState } from '#src/inventory/read/listed-rows.ts'
import { RowTable } from '#src/inventory/read/row-table.ts'
import { fingerprint } from '#src/model/fingerprint.ts'

const FINGERPRINT = fingerprint('a row')
const EXCEPT = new Set(['8'])
const MAX_ID = 2n ** 64n - 1n

/** Does what a table does, by maps of text. */
function createModel(): ListedRows {
  const rows = new Map<string, { digest: string | null; state: RowState | null; removed: boolean }>()
  let listed: Set<string>[] = []
  let part = new Set<string>()
  let learned: [row: number, digest: string, state: RowState][] = []
  let learnedBefore = 0
  let hasAllCurrent = false
  const isListed = (id: string) => part.has(id) || listed.some(ids => ids.has(id))
  const idOf = (row: number) => [...rows.keys()][row]!
  function list(id: string): number {
    if (!rows.has(id)) rows.set(id, { digest: null, state: null, removed: false })
    if (isListed(id)) return -1
    part.add(id)
    return [...rows.keys()].indexOf(id)
  }
  return {
    get size() {
      return rows.size
    },
    startReading() {
      listed = []
      part = new Set()
    },
    startPart() {
      listed.push(part)
      part = new Set()
      learnedBefore = learned.length
    },
    discardPart() {
      part = new Set()
      learned.length = learnedBefore
    },
    find: digest => [...rows.values()].findIndex(row => row.digest === digest),
    listKnown(row, except) {
      const id = idOf(row)
      return !except.has(id) && list(id) === row
    },
    list,
    isListed,
    isInPart: id => part.has(id),
    unlisted: () =>
      hasAllCurrent ? [...rows].filter(([id, row]) => !row.removed && !isListed(id)).map(([id]) => id) : null,
    nothingIsStored() {
      hasAllCurrent = true
    },
    recall(row, fingerprint) {
      const state = rows.get(idOf(row))?.state
      return state ? { isChanged: state.fingerprint !== fingerprint, wasFiring: state.isFiring } : null
    },
    learn: (row, digest, state) => learned.push([row, digest, state]),
    commit(kept, removed) {
      for (const [row, digest, state] of learned) rows.set(idOf(row), { digest, state, removed: false })
      for (const id of kept ?? [])
        if (!rows.has(id)) rows.set(id, { digest: null, state: null, removed: false })
      for (const id of removed) if (rows.has(id)) rows.set(id, { digest: null, state: null, removed: true })
      hasAllCurrent ||= kept !== null
      learned = []
    },
    rollback() {
      learned = []
    },
  }
}

/** A digest of 32 characters of one byte each, another one for each number. Its beginning is that of other numbers too. */
function digestOf(n: number): string {
  return (
    String.fromCharCode(n & 1, 0, 7, 200).repeat(3) + String.fromCharCode(n & 255, n >> 8, 7, 200).repeat(5)
  )
}

const id = fc
  .oneof(fc.integer({ min: 0, max: 8 }).map(BigInt), fc.constantFrom(MAX_ID, MAX_ID - 1n, 2n ** 63n))
  .map(String)
const run = fc.record({
  parts: fc.array(
    fc.record({
      rows: fc.array(fc.record({ id, text: fc.integer({ min: 0, max: 3 }) }), { maxLength: 8 }),
      isDiscarded: fc.boolean(),
    }),
    { maxLength: 3 },
  ),
  removed: fc.array(id, { maxLength: 2 }),
  kept: fc.option(fc.array(id, { maxLength: 2 })),
  isApplied: fc.boolean(),
  isFirst: fc.boolean(),
})

/** Lists the rows of a run as a reading does, and tells what the table said. */
function play(
  table: ListedRows,
  runs: readonly (typeof run extends fc.Arbitrary<infer Run> ? Run : never)[],
) {
  const said: unknown[] = []
  for (const { parts, removed, kept, isApplied, isFirst } of runs) {
    table.startReading()
    if (isFirst) table.nothingIsStored()
    for (const { rows, isDiscarded } of parts) {
      table.startPart()
      for (const { id, text } of rows) {
        // The text of a row has its id in it.
        const digest = digestOf(Number(BigInt(id) % 1000n) * 10 + text)
        const row = table.find(digest)
        const isKnown = row !== -1 && table.listKnown(row, EXCEPT)
        said.push(isKnown)
        if (isKnown) continue
        const listed = table.list(id)
        said.push(listed, table.isInPart(id))
        if (listed === -1) continue
        const state = { fingerprint: fingerprint(digest), isFiring: text % 2 === 1 }
        said.push(table.recall(listed, state.fingerprint))
        table.learn(listed, digest, state)
      }
      if (isDiscarded) table.discardPart()
    }
    said.push(table.unlisted()?.toSorted() ?? null, table.isListed('3'), table.size)
    if (isApplied) table.commit(kept, removed)
    else table.rollback()
  }
  return said
}

test('knows what was listed, learned and applied, whatever happens in between', () => {
  fc.assert(
    fc.property(fc.array(run, { maxLength: 5 }), runs => {
      expect(play(new RowTable(), runs)).toEqual(play(createModel(), runs))
    }),
    { numRuns: 1_000 },
  )
})

test('knows a hundred thousand rows, through many changes of their texts', () => {
  const table = new RowTable()
  const count = 100_000
  const ids = Array.from({ length: count }, (_, n) => `${4_203_000_000_000 + n * 3}`)
  const digest = (n: number, round: number) =>
    String.fromCharCode(n & 255, (n >> 8) & 255, n >> 16, round + 1).repeat(8)
  for (let round = 0; round < 4; round++) {
    table.startReading()
    table.startPart()
    // One comparison a round: each costs microseconds.
    const found: unknown[] = []
    const expected: unknown[] = []
    for (const [n, id] of ids.entries()) {
      const isKnown = round > 0 && n % 2 === 0
      const row = table.find(digest(n, isKnown ? 0 : round))
      found.push(row)
      expected.push(isKnown ? n : -1)
      if (isKnown) {
        found.push(table.listKnown(row, new Set()))
        expected.push(true)
        continue
      }
      const listed = table.list(id)
      found.push(table.recall(listed, FINGERPRINT)?.wasFiring)
      expected.push(round === 0 ? undefined : (n + round - 1) % 3 === 0)
      table.learn(listed, digest(n, round), { fingerprint: FINGERPRINT, isFiring: (n + round) % 3 === 0 })
    }
    expect(found).toEqual(expected)
    expect(table.unlisted()).toEqual(round === 0 ? null : [])
    table.commit([], [])
  }
  expect(table.size).toBe(count)
})

test.each([
  ['last', (n: bigint) => MAX_ID - n],
  ['first', (n: bigint) => (n << 32n) + 7n],
] as const)('tells ids apart that differ in their %s bits alone', (_, idOf) => {
  const table = new RowTable()
  table.startReading()
  table.startPart()
  const ids = Array.from({ length: 1_000 }, (_, n) => `${idOf(BigInt(n))}`)
  expect(ids.filter(id => table.list(id) !== -1)).toHaveLength(1_000)
  expect(table.size).toBe(1_000)
})
