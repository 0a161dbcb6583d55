import { createHash, hash } from 'node:crypto'
import type { AnyRow } from '#src/model/fields.ts'
import { header, isJson, isSuccessStatus } from './answer.ts'
import { declaredJson, openDrift, type RawRow } from './declared.ts'
import {
  BEGINS,
  type FindKnown,
  type ListedRow,
  type ListingEnd,
  type ListingStep,
  type ReadRow,
} from './listing.ts'
import { PlainRows, type RowText } from './plain-row.ts'
import type { AnswerHead } from './post.ts'
import { AnswerTooLarge, giveBack, readWhole } from './read-body.ts'
import { NOTHING_ALTERED, parseRow, type RowKind } from './read-rows.ts'
import { RowScanner } from './row-scanner.ts'
import { rowWriter, type WrittenRow } from './written-row.ts'

/** The body of a listing after its rows. */
export type ScannedListing = {
  readonly listing: ListingEnd
  /** See `RowScanner.end`. */
  readonly around: Buffer
  /** See `RowScanner.damage`. */
  readonly damage: string | null
}

const NO_ROWS: ListingEnd = {
  rows: 0,
  dataHash: hash('sha256', '', 'hex'),
  drift: [],
  incomplete: null,
  confirmed: false,
}

/**
 * Yields the rows of a listing while it comes; nothing if the answer cannot be a listing. Throws what the chunks throw, and
 * `AnswerTooLarge`; otherwise never for what the platform sent.
 */
export async function* readListing<Row, Wire>(
  kind: RowKind<Row, Wire>,
  find: FindKnown,
  { httpStatus, headers }: AnswerHead,
  chunks: AsyncIterable<Buffer>,
): AsyncGenerator<ListingStep<Row>, ScannedListing> {
  if (!isSuccessStatus(httpStatus) || !isJson(header({ headers }, 'content-type'))) {
    return { listing: NO_ROWS, around: await readWhole(chunks), damage: null }
  }
  const reader = new ListingReader(kind, find)
  yield BEGINS
  for await (const chunk of chunks) {
    const isWhole = reader.read(chunk)
    if (reader.isRestarted) yield BEGINS
    yield { kind: 'rows', rows: reader.rows }
    reader.letGo(chunk)
    if (!isWhole) break
  }
  return reader.end()
}

class ListingReader<Row, Wire> {
  /** The rows that ended in the last chunk, until it is let go. */
  readonly rows: ListedRow<Row>[] = []
  /** Whether the rows of earlier chunks do not count. */
  isRestarted = false

  readonly #kind: RowKind<Row, Wire>
  readonly #find: FindKnown
  readonly #write: (row: AnyRow) => WrittenRow
  readonly #scanner: RowScanner
  #drift: ReturnType<typeof openDrift>
  /** Null before the rows begin, and if rows of this kind are never plain. */
  #plain: PlainRows<Row> | null = null
  /** What the rows of the last chunk keep of it. */
  readonly #texts: RowText[] = []
  /** The buffers of earlier chunks of which rows keep parts. */
  readonly #kept = new WeakSet<ArrayBufferLike>()
  #digests = createHash('sha256')
  #chunkDigests = ''
  #position = 0

  constructor(kind: RowKind<Row, Wire>, find: FindKnown) {
    this.#kind = kind
    this.#find = find
    this.#write = rowWriter(kind.declaration)
    this.#drift = openDrift(kind.declared)
    this.#scanner = new RowScanner(kind.path, {
      restart: () => this.#restart(),
      row: text => this.#row(text),
    })
  }

  /** Reads the rows that end in this chunk. False if the body is certainly not valid JSON. */
  read(chunk: Buffer): boolean {
    this.isRestarted = false
    this.#chunkDigests = ''
    const isWhole = this.#scanner.write(chunk)
    this.#digests.update(this.#chunkDigests, 'latin1')
    return isWhole
  }

  /**
   * Gives the memory of the last chunk back once its rows were taken, unless they keep much of it; else they get copies. The step
   * that had the rows has them no longer: what a promise of it still holds would survive garbage collections.
   */
  letGo(chunk: Buffer): void {
    const kept = this.#texts.reduce((sum, { bytes }) => sum + bytes.length, 0)
    // Of one buffer there may be many chunks, if the platform sends little at a time.
    if (kept > Math.max(chunk.length / 2, chunk.buffer.byteLength / 8)) this.#kept.add(chunk.buffer)
    else {
      for (const text of this.#texts) text.bytes = Buffer.from(text.bytes)
      if (!this.#kept.has(chunk.buffer)) giveBack(chunk)
    }
    this.rows.length = 0
    this.#texts.length = 0
  }

  end(): ScannedListing {
    const dataHash = this.#digests.digest('hex')
    const listing = { ...NO_ROWS, rows: this.#position, dataHash, drift: this.#drift.found() }
    return { listing, around: this.#scanner.end(), damage: this.#scanner.damage() }
  }

  #openPlain(): PlainRows<Row> | null {
    const { declaration, plain } = this.#kind
    if (plain === null) return null
    return new PlainRows(declaration, plain, text => {
      const read = parseRow(this.#kind, text)
      if (read === null || !('row' in read)) throw new Error('a plain row does not parse')
      return read.row as AnyRow
    })
  }

  #restart(): void {
    this.isRestarted ||= this.#position > 0
    this.rows.length = 0
    this.#drift = openDrift(this.#kind.declared)
    // A plain row is not checked for drift: the rows of which undeclared fields were learned are.
    this.#plain = this.#openPlain()
    this.#digests = createHash('sha256')
    this.#chunkDigests = ''
    this.#position = 0
  }

  #row(text: Buffer | null): boolean {
    const { maxRows, tooMany } = this.#kind
    if (this.#position === maxRows) throw new AnswerTooLarge(tooMany)
    const digest = hash('sha256', text ?? '', 'latin1')
    const position = this.#position
    const known = text === null || this.#find === null ? -1 : this.#find(digest)
    const row = known === -1 ? this.#read(text, digest, position) : this.#known(text, digest, position, known)
    if (row === null) return false
    this.rows.push(row)
    this.#chunkDigests += digest
    this.#position += 1
    return true
  }

  #known(text: Buffer | null, digest: string, position: number, known: number): ListedRow<Row> {
    const read = () => {
      const row = this.#read(text, digest, position)
      if (row === null) throw new Error('a row that is known is not JSON')
      return row
    }
    return { kind: 'known', digest, known, read }
  }

  /** Null if the text is not JSON. */
  #read(text: Buffer | null, digest: string, position: number): ReadRow<Row> | null {
    const read = text === null ? null : this.#plain?.read(text, this.#find === null)
    if (!read) return this.#parse(text, digest, position)
    const { id, row, text: kept, written } = read
    this.#texts.push(kept)
    const declared = () => declaredJson(this.#kind.declared, parseRow(this.#kind, kept.bytes)?.raw)
    const bytes = 2 * kept.bytes.length // with the columns
    return { kind: 'good', digest, position, id, row, altered: NOTHING_ALTERED, bytes, written, declared }
  }

  #parse(text: Buffer | null, digest: string, position: number): ReadRow<Row> | null {
    const read = parseRow(this.#kind, text)
    if (read === null) return null
    const { raw, id } = read
    this.#drift.look(raw)
    const declared = () => declaredJson(this.#kind.declared, raw)
    if ('reason' in read) {
      const { reason } = read
      return {
        kind: 'quarantined',
        digest,
        position,
        id: id === null ? null : `${id}`,
        reason,
        raw: declared(),
      }
    }
    const { row, altered } = read
    this.#plain?.learn(raw as RawRow)
    return {
      kind: 'good',
      digest,
      position,
      id: `${id}`,
      row,
      altered,
      bytes: text?.length ?? 0,
      written: this.#write(row as AnyRow),
      declared,
    }
  }
}
