import { setImmediate } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { REPEATED, REPEATED_IN_FOLDER } from '#src/inventory/messages.ts'
import type { ChangeSink, Changes, Compare } from '#src/inventory/publish/compare.ts'
import { createIdSet, type ListedRows } from '#src/inventory/read/listed-rows.ts'
import { Reader } from '#src/inventory/read/reading.ts'
import { BEGINS, type ListingEnd, type ListingStep } from '#src/platform/listing.ts'
import { refusedByPlatform } from '#src/platform/refusal.ts'

const NOTHING: Changes<string> = { added: [], changed: [], began: [], ended: [], bytes: 0 }
const UNMARKED = { async mark() {}, async rewind() {} }

function openReader(
  compare: Compare<string>,
  write: ChangeSink<string>['write'],
  listed: ListedRows = createIdSet(),
) {
  const source = { accountIdOf: () => null, isFiring: null }
  return new Reader<string>(source, listed, { ...UNMARKED, write }, compare)
}

/** `count` rows, from this number on. */
function rowsFrom(
  from: number,
  count: number,
  idOf: (position: number) => string = String,
): ListingStep<string> {
  const written = { fingerprint: '', columns: () => '' }
  const row = { kind: 'good' as const, row: '', altered: [], digest: '', bytes: 1, written }
  const rows = Array.from({ length: count }, (_, n) => from + n)
  return {
    kind: 'rows',
    rows: rows.map(position => ({
      ...row,
      id: idOf(position),
      position,
      declared: () => `"number ${position}"`,
    })),
  }
}

const ENDED: ListingStep<string> = {
  kind: 'ended',
  pages: 1,
  answer: {
    ok: true,
    requestId: 'r',
    requests: 1,
    data: { rows: 0, drift: [], dataHash: '', incomplete: null, confirmed: false },
  },
}

test('rows are passed on as soon as nothing else is, are compared before, and reading waits only once many rows do', async () => {
  const compared: number[] = []
  let passedOn = 0
  let underWay = Promise.withResolvers<void>()
  const reader = openReader(
    async rows => {
      compared.push(rows.length)
      return NOTHING
    },
    async () => {
      underWay = Promise.withResolvers()
      await underWay.promise
      passedOn += 1
    },
  )
  await reader.take(BEGINS)
  let rows = 0
  async function take(count: number): Promise<'goes on' | 'waits'> {
    let state: 'goes on' | 'waits' = 'waits'
    reader.take(rowsFrom(rows, count)).then(() => {
      state = 'goes on'
    })
    rows += count
    await setImmediate()
    return state
  }

  expect([await take(99), compared]).toEqual(['goes on', []])
  expect([await take(1), compared]).toEqual(['goes on', [100]])
  expect([await take(1_500), compared]).toEqual(['goes on', [100]])
  underWay.resolve()
  await setImmediate()
  expect([await take(500), compared, passedOn]).toEqual(['goes on', [100, 2_000], 1])
  expect([await take(3_000), compared, passedOn]).toEqual(['waits', [100, 2_000, 3_000], 1])
  underWay.resolve()
  await setImmediate()
  expect([await take(99), compared, passedOn]).toEqual(['goes on', [100, 2_000, 3_000], 2])
  underWay.resolve()
  await setImmediate()
  const ended = reader.take(ENDED)
  await setImmediate()
  underWay.resolve()
  await ended
  expect([reader.end(), compared, passedOn]).toMatchObject([{ seen: 5_199 }, [100, 2_000, 3_000, 99], 4])
})

test('once a reading has stopped, no row is being compared, and nothing is passed on', async () => {
  const writing = Promise.withResolvers<void>()
  const comparison = Promise.withResolvers<Changes<string>>()
  const writes: string[] = []
  const reader = openReader(
    async rows => (rows.length === 1_000 ? NOTHING : comparison.promise),
    async () => {
      writes.push('begun')
      await writing.promise
    },
  )
  await reader.take(BEGINS)
  await reader.take(rowsFrom(0, 1_000))
  const taken = reader.take(rowsFrom(1_000, 3_000))
  let isStopped = false
  const stopped = reader.stop().then(() => {
    isStopped = true
  })
  writing.resolve()
  await taken
  await setImmediate()
  expect([isStopped, writes]).toEqual([false, ['begun']])
  comparison.resolve(NOTHING)
  await stopped
  await setImmediate()
  expect(writes).toEqual(['begun'])
})

test('of a row that came before in the same listing its JSON is kept, of one that came in another folder it is not', async () => {
  const reader = openReader(
    async () => NOTHING,
    async () => {},
  )
  for (const step of [BEGINS, rowsFrom(0, 2, () => '7'), ENDED, BEGINS, rowsFrom(0, 1, () => '7'), ENDED]) {
    await reader.take(step)
  }
  const reading = reader.end()
  expect(reading.kind === 'read' && [...reading.quarantined.byFingerprint()].map(([, kept]) => kept)).toEqual(
    [
      { position: 1, id: '7', reason: REPEATED, raw: '"number 1"' },
      { position: 2, id: '7', reason: REPEATED_IN_FOLDER, raw: null },
    ],
  )
})

test('what is compared of an attempt that is void by then is neither passed on nor learned', async () => {
  let comparison = Promise.withResolvers<Changes<string>>()
  const learned: number[] = []
  const ids = createIdSet()
  const changesOf = (bytes: number) => ({ ...NOTHING, bytes })
  const written: number[] = []
  const reader = openReader(
    () => comparison.promise,
    async ({ bytes }) => void written.push(bytes),
    { ...ids, learn: row => void learned.push(row) },
  )
  await reader.take(BEGINS)
  await reader.take(rowsFrom(0, 1_000))
  const again = reader.take(BEGINS)
  comparison.resolve(changesOf(1))
  await again
  comparison = Promise.withResolvers()
  await reader.take(rowsFrom(0, 1, () => 'again'))
  comparison.resolve(changesOf(2))
  await reader.take(ENDED)
  expect(reader.end()).toMatchObject({ seen: 1 })
  expect([written, learned]).toEqual([[2], [0]])
})

test('of the rows that are known, only those are compared that changed or began to fire or recovered; all are learned', async () => {
  const learned: number[] = []
  const compared: string[] = []
  const reader = openReader(
    async rows => {
      compared.push(...rows.map(({ id }) => id))
      return NOTHING
    },
    async () => {},
    {
      ...createIdSet(),
      recall: row => (row < 3 ? { isChanged: row === 1, wasFiring: row === 0 } : null),
      learn: row => void learned.push(row),
    },
  )
  for (const step of [BEGINS, rowsFrom(0, 4), ENDED]) await reader.take(step)
  expect([compared, learned.sort()]).toEqual([
    ['0', '1', '3'],
    [0, 1, 2, 3],
  ])
})

/** What a reading of listings of three rows each came to, of which these are the ends. */
async function readAll(...ends: readonly (Partial<ListingEnd> | 'Unauthorized' | 'AccessDenied')[]) {
  const version = {
    id: '',
    row: '',
    flags: undefined,
    altered: [],
    written: { fingerprint: '', columns: () => '' },
  }
  const changes = {
    added: [version],
    changed: [version, version],
    began: ['1', '2', '3'],
    ended: ['4'],
    bytes: 1,
  }
  const reader = openReader(
    async () => changes,
    async () => {},
  )
  for (const [n, end] of ends.entries()) {
    await reader.take(BEGINS)
    await reader.take(rowsFrom(10 * n, 3))
    const data = { rows: 3, drift: [], dataHash: `hash ${n}`, incomplete: null, confirmed: false }
    const about = { httpStatus: 403, requestId: `req-${n}`, retryAfterMs: null }
    const answer =
      typeof end === 'string'
        ? ({ ok: false, requests: 7, refusal: refusedByPlatform(about, end, 'No.') } as const)
        : ({ ok: true, requestId: 'r', requests: n + 1, data: { ...data, ...end } } as const)
    await reader.take({ kind: 'ended', pages: n + 4, answer })
  }
  return reader.end()
}

test('several listings are one reading: sums of all, absence only if each was complete, and a hash of each', async () => {
  const owner = { field: 'owner', type: 'string' }
  const read = await readAll(
    { drift: [owner] },
    { drift: [owner, { field: 'owner', type: 'number' }], confirmed: true },
  )
  expect(read).toEqual({
    kind: 'read',
    requests: 3,
    pages: 9,
    seen: 6,
    added: 2,
    changed: 4,
    fired: 6,
    recovered: 2,
    quarantined: expect.objectContaining({ size: 0 }),
    unreadableIds: new Set(),
    accountIds: new Set(),
    drift: [owner, { field: 'owner', type: 'number' }],
    incomplete: null,
    confirmed: true,
    dataHashes: ['hash 0', 'hash 1'],
  })
  expect(await readAll({ incomplete: 'first' }, {}, { incomplete: 'third' })).toMatchObject({
    incomplete: 'first',
  })
  expect(await readAll({ confirmed: true }, {})).toMatchObject({ confirmed: false })
  for (const lacking of [0, 1, 2]) {
    const ends = [0, 1, 2].map(n => (n === lacking ? { dataHash: null } : {}))
    expect(await readAll(...ends), `${lacking}`).toMatchObject({ dataHashes: null })
  }
  expect(await readAll({}, 'Unauthorized', 'AccessDenied')).toEqual({
    kind: 'refused',
    refusal: expect.objectContaining({ code: 'Unauthorized', requestId: 'req-1' }),
    requests: 15,
    pages: 15,
  })
})
