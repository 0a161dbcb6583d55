import { hash } from 'node:crypto'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { constants, createGzip, gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import type { GoodRow } from '#src/platform/listing.ts'
import { unpack } from '#src/platform/read-body.ts'
import { readListing } from '#src/platform/read-listing.ts'
import { ALERT_RULES } from '#src/platform/row-kinds.ts'
import { alertRuleWire } from '#test/support/wire.ts'

/* The memory of unpacked chunks is given back as soon as no row keeps a part of it, and never before. */

const ROWS = 3_000
const texts = Array.from({ length: ROWS }, (_, n) =>
  JSON.stringify(alertRuleWire({ id: n, name: `rule ${n}` })),
)
const packed = gzipSync(`{"request_id":"r","data":[${texts}]}`)
const numbers = new Map(texts.map((text, n) => [hash('sha256', text, 'latin1'), n]))

/** Reads the listing as pieces of `pieceBytes` bring it; of which rows the text is not known `isRead` says. */
async function readInPieces(pieceBytes: number, isRead: (row: number) => boolean, body = packed) {
  const pieces: Buffer[] = []
  for (let at = 0; at < body.length; at += pieceBytes) pieces.push(body.subarray(at, at + pieceBytes))
  const sent = Readable.from(pieces) as never
  const buffers = new Set<ArrayBufferLike>()
  async function* noted() {
    for await (const chunk of unpack({ body: sent, headers: { 'content-encoding': 'gzip' } })) {
      buffers.add(chunk.buffer)
      yield chunk
    }
  }
  const find = (digest: string) => {
    const number = numbers.get(digest) ?? -1
    return isRead(number) ? -1 : number
  }
  const head = { httpStatus: 200, headers: { 'content-type': 'application/json' } }
  const read: GoodRow<{ readonly name: string }>[] = []
  for await (const step of readListing(ALERT_RULES, find, head, noted())) {
    if (step.kind === 'rows') read.push(...step.rows.filter(row => row.kind === 'good'))
  }
  const kept = [...buffers].filter(({ byteLength }) => byteLength > 0).length
  return { read, buffers: buffers.size, kept }
}

const PIECES = [700, 5_000, 1_000_000]

test.each(PIECES)('nothing is kept of rows that are known, in pieces of %d bytes', async pieceBytes => {
  const { read, buffers, kept } = await readInPieces(pieceBytes, () => false)
  expect(read).toEqual([])
  expect(buffers).toBeGreaterThan(5)
  expect(kept).toBeLessThanOrEqual(1) // the last one, which was not filled
})

test.each(PIECES)(
  'of few rows the text is kept, but not the chunk, in pieces of %d bytes',
  async pieceBytes => {
    const isRead = (row: number) => row % 20 === 3
    const { read, buffers, kept } = await readInPieces(pieceBytes, isRead)
    expectWhole(read, isRead)
    expect(buffers).toBeGreaterThan(5)
    expect(kept).toBeLessThanOrEqual(1)
  },
)

test('of rows that come one at a time the text is kept, and not the buffer that each begins in', async () => {
  const gzip = createGzip({ flush: constants.Z_SYNC_FLUSH })
  const flushed = buffer(gzip)
  gzip.write('{"request_id":"r","data":[')
  for (const [n, text] of texts.entries()) gzip.write(n === 0 ? text : `,${text}`)
  gzip.end(']}')
  const isRead = (row: number) => row % 20 === 3
  const { read, kept } = await readInPieces(60, isRead, await flushed)
  expectWhole(read, isRead)
  expect(kept).toBeLessThanOrEqual(1)
})

test.each(PIECES)(
  'of many rows it is kept as it is, whatever follows in its buffer, in pieces of %d bytes',
  async pieceBytes => {
    for (const length of [50, 100, 150, 400]) {
      const isRead = (row: number) => row % (2 * length) < length
      expectWhole((await readInPieces(pieceBytes, isRead)).read, isRead)
    }
  },
)

/** Whether all that is asked of the rows only now is what the platform sent. */
function expectWhole(
  read: readonly GoodRow<{ readonly name: string }>[],
  isRead: (row: number) => boolean,
): void {
  const expected = texts.filter((_, n) => isRead(n)).map(text => JSON.parse(text))
  expect(read.map(({ row }) => row.name)).toEqual(expected.map(({ name }) => name))
  expect(read.map(row => JSON.parse(row.declared() ?? '').id)).toEqual(expected.map(({ id }) => id))
}
