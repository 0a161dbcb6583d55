import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import type { Compared } from '#src/inventory/compare.ts'
import { createIdSet } from '#src/inventory/listed-rows.ts'
import { REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import { openReading } from '#src/inventory/reading.ts'
import { REPEATED } from '#src/platform/read-rows.ts'

const NOTHING: Compared<string> = {
  changes: { added: [], changed: [], began: [], ended: [], bytes: 0 },
  states: [],
}

const ROW = { row: '', altered: [], digest: '', bytes: 1 }
const UNMARKED = { mark() {}, rewind() {} }

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
      ...UNMARKED,
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
    for (const end = rows + count; rows < end; rows++) sink.take({ ...ROW, id: `${rows}`, position: rows })
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
      ...UNMARKED,
      async write() {
        writes.push('begun')
        await writing.promise
      },
    },
  )
  const sink = reading.part()
  await sink.ready()
  sink.begin()
  for (let position = 0; position < 4_000; position++) {
    sink.take({ ...ROW, id: `${position}`, position })
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

test('of a row that came before in the same listing its JSON is kept, of one that came in another folder it is not', async () => {
  const reading = openReading<string>({ accountIdOf: () => null }, createIdSet(), async () => NOTHING, {
    ...UNMARKED,
    write: async () => {},
  })
  const first = reading.part()
  const second = reading.part()
  const row = (position: number) => ({ ...ROW, id: '7', position })
  await first.ready()
  first.begin()
  first.take(row(0), () => '"the first"')
  first.take(row(1), () => '"again"')
  await second.ready()
  second.begin()
  second.take(row(0), () => '"elsewhere"')
  const { quarantined } = await reading.end()
  expect([...quarantined.byFingerprint()].map(([, kept]) => kept)).toEqual([
    { position: 1, id: '7', reason: REPEATED, raw: '"again"' },
    { position: 2, id: '7', reason: REPEATED_IN_FOLDER, raw: null },
  ])
})

test('what is compared of an attempt that is void by then is neither passed on nor learned', async () => {
  let comparison = Promise.withResolvers<Compared<string>>()
  const learned: string[] = []
  const changesOf = (bytes: number) => ({ ...NOTHING.changes, bytes })
  const written: number[] = []
  const reading = openReading<string>(
    { accountIdOf: () => null },
    { ...createIdSet(), learn: id => void learned.push(id) },
    () => comparison.promise,
    { ...UNMARKED, write: async ({ bytes }) => void written.push(bytes) },
  )
  const sink = reading.part()
  const take = (id: string) => sink.take({ ...ROW, id, position: 0 })
  await sink.ready()
  sink.begin()
  for (let n = 0; n < 1_000; n++) take(`${n}`)
  await sink.settle()
  sink.begin()
  const states = [{ fingerprint: '', isFiring: false }]
  comparison.resolve({ changes: changesOf(1), states })
  await setImmediate()
  comparison = Promise.withResolvers()
  take('again')
  comparison.resolve({ changes: changesOf(2), states })
  expect(await reading.end()).toMatchObject({ seen: 1 })
  expect([written, learned]).toEqual([[2], ['again']])
})
