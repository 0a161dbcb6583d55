/*
 * The frames of a zstd file (RFC 8878, 3.1), found by their headers and sizes alone, without decompressing. zlib does not
 * report what follows the last frame.
 */

/** The data is not a zstd frame, or only a part of one. */
export class BrokenFrame extends Error {
  override readonly name = 'BrokenFrame'
}

export type FrameCheck = {
  /** Takes the next bytes of the file. Throws `BrokenFrame` if no frame begins where one must begin. */
  take(chunk: Buffer): void
  /** Throws `BrokenFrame` unless a frame has just ended. */
  end(): void
}

const FRAME = 0xfd2fb528
const SKIPPABLE = 0x184d2a50

export function isFrameMagic(magic: number): boolean {
  return magic === FRAME || (magic & 0xfffffff0) >>> 0 === SKIPPABLE
}

export function openFrameCheck(): FrameCheck {
  const steps = stepsOf()
  let wanted = steps.next().value ?? { read: 0 }
  let gathered: Buffer = Buffer.alloc(0)
  let skipped = 0
  return {
    take(chunk) {
      for (let at = 0; at < chunk.length; ) {
        if ('skip' in wanted) {
          const more = Math.min(wanted.skip - skipped, chunk.length - at)
          at += more
          skipped += more
          if (skipped < wanted.skip) return
        } else {
          const more = chunk.subarray(at, at + wanted.read - gathered.length)
          at += more.length
          gathered = Buffer.concat([gathered, more])
          if (gathered.length < wanted.read) return
        }
        wanted = steps.next(gathered).value ?? wanted
        gathered = Buffer.alloc(0)
        skipped = 0
      }
    },
    end() {
      if (!('first' in wanted)) throw new BrokenFrame('it ends inside a frame')
      if (gathered.length > 0) throw new BrokenFrame('other data follows the last frame')
    },
  }
}

/** The next bytes to read or skip; `first`: those at the start of a frame. */
type Step = { readonly read: number; readonly first?: true } | { readonly skip: number }

function* stepsOf(): Generator<Step, never, Buffer> {
  for (;;) {
    const magic = (yield { read: 4, first: true }).readUInt32LE()
    if (!isFrameMagic(magic)) throw new BrokenFrame('other data follows the last frame')
    if (magic === FRAME) yield* frame()
    else yield* skipOver((yield { read: 4 }).readUInt32LE())
  }
}

function* frame(): Generator<Step, void, Buffer> {
  const descriptor = (yield { read: 1 }).readUInt8()
  const isSingleSegment = (descriptor & 0x20) !== 0
  const contentSize = [isSingleSegment ? 1 : 0, 2, 4, 8][descriptor >>> 6] ?? 0
  const dictionaryId = [0, 1, 2, 4][descriptor & 3] ?? 0
  yield* skipOver((isSingleSegment ? 0 : 1) + dictionaryId + contentSize)
  for (let isLast = false; !isLast; ) {
    const header = (yield { read: 3 }).readUIntLE(0, 3)
    isLast = (header & 1) === 1
    const type = (header >>> 1) & 3
    if (type === RESERVED) throw new BrokenFrame('a block in it has an unknown type')
    yield* skipOver(type === REPEATED_BYTE ? 1 : header >>> 3)
  }
  if ((descriptor & 4) !== 0) yield* skipOver(CHECKSUM_BYTES)
}

const REPEATED_BYTE = 1
const RESERVED = 3
const CHECKSUM_BYTES = 4

function* skipOver(bytes: number): Generator<Step, void, Buffer> {
  if (bytes > 0) yield { skip: bytes }
}
