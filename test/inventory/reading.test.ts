import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Compared } from '#src/inventory/compare.ts'
import { createIdSet } from '#src/inventory/listed-rows.ts'
import { openReading } from '#src/inventory/reading.ts'

const NOTHING: Compared<string> = {
  changes: { added: [], changed: [], began: [], ended: [], bytes: 0 },
  states: [],
}

test('rows are passed on as soon as nothing else is, are compared before, and reading waits only once many rows do', async () => {
  const compared: number[] = []
  let passedOn = 0
  let underWay = Promise.withResolvers<void>()
  const reading = openReading<string>(
    { accountIdOf: () => null },
    createIdSet(),
    async rows => {
      compared.push(rows.length)
      return NOTHING
    },
    {
      mark() {},
      rewind() {},
      async write() {
        underWay = Promise.withResolvers()
        await underWay.promise
        passedOn += 1
      },
    },
  )
  const sink = reading.part()
  await sink.ready()
  sink.begin()
  let rows = 0
  async function take(count: number): Promise<'goes on' | 'waits'> {
    const unread = { row: '', altered: [], digest: '', bytes: 1 }
    for (const end = rows + count; rows < end; rows++) sink.take({ ...unread, id: `${rows}`, position: rows })
    let state: 'goes on' | 'waits' = 'waits'
    sink.settle().then(() => {
      state = 'goes on'
    })
    await setImmediate()
    return state
  }

  expect([await take(999), compared]).toEqual(['goes on', []])
  expect([await take(1), compared]).toEqual(['goes on', [1_000]])
  expect([await take(1_500), compared]).toEqual(['goes on', [1_000]])
  underWay.resolve()
  await setImmediate()
  expect([await take(500), compared, passedOn]).toEqual(['goes on', [1_000, 2_000], 1])
  expect([await take(3_000), compared, passedOn]).toEqual(['waits', [1_000, 2_000, 3_000], 1])
  underWay.resolve()
  await setImmediate()
  expect([await take(999), compared, passedOn]).toEqual(['goes on', [1_000, 2_000, 3_000], 2])
  underWay.resolve()
  await setImmediate()
  const ended = reading.end()
  await setImmediate()
  underWay.resolve()
  expect([(await ended).seen, compared, passedOn]).toEqual([6_999, [1_000, 2_000, 3_000, 999], 4])
})

test('once a reading has stopped, no row is being compared, and nothing is passed on', async () => {
  const writing = Promise.withResolvers<void>()
  const comparison = Promise.withResolvers<Compared<string>>()
  const writes: string[] = []
  const reading = openReading<string>(
    { accountIdOf: () => null },
    createIdSet(),
    async rows => (rows.length === 1_000 ? NOTHING : comparison.promise),
    {
      mark() {},
      rewind() {},
      async write() {
        writes.push('begun')
        await writing.promise
      },
    },
  )
  const sink = reading.part()
  await sink.ready()
  sink.begin()
  const unread = { row: '', altered: [], digest: '', bytes: 1 }
  for (let position = 0; position < 4_000; position++) {
    sink.take({ ...unread, id: `${position}`, position })
    if (position === 999) await sink.settle()
  }
  const settled = sink.settle()
  let isStopped = false
  const stopped = reading.stop().then(() => {
    isStopped = true
  })
  writing.resolve()
  await settled
  await setImmediate()
  expect([isStopped, writes]).toEqual([false, ['begun']])
  comparison.resolve(NOTHING)
  await stopped
  await setImmediate()
  expect(writes).toEqual(['begun'])
})
