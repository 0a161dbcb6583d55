import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Compared } from '#src/inventory/compare.ts'
import { createIdSet } from '#src/inventory/listed-rows.ts'
import { openReading } from '#src/inventory/reading.ts'

const NOTHING: Compared<string> = {
  changes: { added: [], changed: [], began: [], ended: [], bytes: 0 },
  states: [],
}

test('rows are passed on as soon as nothing else is, and reading waits only once many rows do', async () => {
  const blocks: number[] = []
  let underWay = Promise.withResolvers<Compared<string>>()
  const reading = openReading<string>(
    { accountIdOf: () => null },
    createIdSet(),
    rows => {
      blocks.push(rows.length)
      underWay = Promise.withResolvers()
      return underWay.promise
    },
    { mark() {}, rewind() {}, write: async () => {} },
  )
  const sink = reading.part()
  await sink.ready()
  sink.begin()
  let rows = 0
  async function take(count: number): Promise<boolean> {
    const unread = { row: '', altered: [], digest: '', bytes: 1, raw: () => null }
    for (const end = rows + count; rows < end; rows++) sink.take({ ...unread, id: `${rows}`, position: rows })
    let isSettled = false
    sink.settle().then(() => {
      isSettled = true
    })
    await setImmediate()
    return isSettled
  }

  expect([await take(999), blocks]).toEqual([true, []])
  expect([await take(1), blocks]).toEqual([true, [1_000]])
  expect([await take(1_500), blocks]).toEqual([true, [1_000]])
  underWay.resolve(NOTHING)
  await setImmediate()
  expect([await take(500), blocks]).toEqual([true, [1_000, 2_000]])
  expect([await take(3_000), blocks]).toEqual([false, [1_000, 2_000]])
  underWay.resolve(NOTHING)
  await setImmediate()
  expect(blocks).toEqual([1_000, 2_000, 3_000])
  underWay.resolve(NOTHING)
  expect(await reading.end()).toMatchObject({ seen: 6_000 })
})
