import { createHash, hash } from 'node:crypto'
import { header, isJson, isSuccessStatus } from './answer.ts'
import { AnswerTooLarge, MAX_RULES, TOO_MUCH } from './answer-size.ts'
import { declaredJson, openDrift } from './declared.ts'
import type { AnswerHead } from './post.ts'
import { type ParsedRow, parseRow, type RowKind } from './read-rows.ts'
import { RowScanner } from './row-scanner.ts'
import type { ListingEnd, RowSink } from './row-sink.ts'

/** The body of a listing after its rows have been handed over. */
export type ScannedListing = ListingEnd & {
  /** See `RowScanner.end`. */
  readonly around: Buffer
  /** See `RowScanner.damage`. */
  readonly damage: string | null
}

export const EMPTY_LISTING: ListingEnd = { rows: 0, dataHash: hash('sha256', '', 'hex'), drift: [] }

/** Whether an answer may be a listing. Any other answer is short. */
export function mayBeListing({ httpStatus, headers }: AnswerHead): boolean {
  return isSuccessStatus(httpStatus) && isJson(header({ headers }, 'content-type'))
}

/**
 * Reads a listing as it comes and hands its rows to `sink`. Throws what the chunks or the sink
 * throw, and `AnswerTooLarge`; never for what the platform sent otherwise: whether the listing was a valid one, only what
 * is around its rows can tell, so the sink must wait for that.
 */
export async function readListing<Row, Wire>(
  kind: RowKind<Row, Wire>,
  chunks: AsyncIterable<Buffer>,
  sink: RowSink<Row>,
): Promise<ScannedListing> {
  await sink.ready()
  const listing = openListing(kind, sink)
  for await (const chunk of chunks) {
    if (!listing.read(chunk)) break
    await sink.settle()
  }
  return listing.end()
}

function openListing<Row, Wire>(kind: RowKind<Row, Wire>, sink: RowSink<Row>) {
  let drift = openDrift(kind.declared)
  let digests = createHash('sha256')
  let position = 0
  let chunkDigests: string[] = []
  const scanner = new RowScanner(['data'], { restart, row })
  sink.begin()

  function restart(): void {
    if (position === 0) return
    sink.begin()
    drift = openDrift(kind.declared)
    digests = createHash('sha256')
    position = 0
    chunkDigests = []
  }

  function row(text: Buffer | null): boolean {
    if (position === MAX_RULES) throw new AnswerTooLarge(TOO_MUCH.rules)
    const digest = hash('sha256', text ?? '', 'latin1')
    if (text === null || !sink.knows(digest)) {
      const read = parseRow(kind, text)
      if (read === null) return false
      take(read, digest, text?.length ?? 0)
    }
    chunkDigests.push(digest)
    position += 1
    return true
  }

  function take(read: ParsedRow<Row>, digest: string, bytes: number): void {
    const { raw } = read
    drift.look(raw)
    const declared = () => declaredJson(kind.declared, raw)
    sink.take(
      'row' in read
        ? { position, id: `${read.id}`, row: read.row, altered: read.altered, digest, bytes }
        : { position, id: read.id === null ? null : `${read.id}`, reason: read.reason, raw: declared() },
      declared,
    )
  }

  return {
    /** Hands over the rows that end in this chunk. False if the body is certainly not valid JSON. */
    read(chunk: Buffer): boolean {
      const isWhole = scanner.write(chunk)
      digests.update(chunkDigests.join(''), 'latin1')
      chunkDigests = []
      return isWhole
    },
    end(): ScannedListing {
      return {
        rows: position,
        dataHash: digests.digest('hex'),
        drift: drift.found(),
        around: scanner.end(),
        damage: scanner.damage(),
      }
    },
  }
}
