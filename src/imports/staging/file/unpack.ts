import { pipeline, Readable, type Transform } from 'node:stream'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { FileRefused } from '../file-refused.ts'
import { BrokenFrame, isFrameMagic, openFrameCheck } from './zstd-frames.ts'

export type Compression = 'none' | 'gzip' | 'zstd'

const CHUNK = 128 * 1024

/** Returns how a file is compressed, by its first bytes. */
export function compressionOf(bytes: Buffer): Compression {
  if (bytes.length >= 2 && bytes.readUInt16BE() === 0x1f8b) return 'gzip'
  return bytes.length >= 4 && isFrameMagic(bytes.readUInt32LE()) ? 'zstd' : 'none'
}

/**
 * Yields the decompressed content of `chunks`, all of it. Throws `FileRefused` if a part of it cannot be read.
 *
 * zlib does not report what follows zeros after gzip data, nor what follows the last frame of zstd. So this checks both. Zeros at the end of gzip data are allowed: tapes and some tools add them.
 */
export async function* unpacked(
  chunks: AsyncGenerator<Buffer>,
  compression: 'gzip' | 'zstd',
  name: string,
): AsyncGenerator<Buffer> {
  const packed = counted(compression === 'zstd' ? wholeFrames(chunks) : chunks)
  const options = { chunkSize: CHUNK }
  const unpacker: Transform & { bytesWritten?: number } =
    compression === 'gzip' ? createGunzip(options) : createZstdDecompress(options)
  // The error is thrown by the unpacker, which it ends.
  pipeline(Readable.from(packed, { objectMode: false }), unpacker, () => {})
  try {
    yield* unpacker as AsyncIterable<Buffer>
    // An unpacker that has ended asks for no more chunks.
    while (!(await packed.next()).done);
  } catch (error) {
    if (!isDamage(error)) throw error
    throw damaged(compression, name, error.message, error)
  } finally {
    packed.close()
  }
  if (compression === 'gzip' && (unpacker.bytesWritten ?? 0) < packed.given.untilZeros) {
    throw damaged(compression, name, 'other data follows its end')
  }
}

/** Counts the chunks as they are read. Unlike a generator, it can be read further after its reader has stopped. */
function counted(chunks: AsyncGenerator<Buffer>) {
  const given = { bytes: 0, untilZeros: 0 }
  return {
    given,
    async next() {
      const next = await chunks.next()
      if (next.done) return next
      const zeros = zerosAtEnd(next.value)
      if (zeros < next.value.length) given.untilZeros = given.bytes + next.value.length - zeros
      given.bytes += next.value.length
      return next
    },
    // Not awaited: it may be waiting for a read that ends only when the file's stream is closed.
    close: () => void chunks.return(undefined).catch(() => {}),
    [Symbol.asyncIterator]() {
      return this
    },
  }
}

function zerosAtEnd(chunk: Buffer): number {
  let end = chunk.length
  while (end > 0 && chunk[end - 1] === 0) end--
  return chunk.length - end
}

async function* wholeFrames(chunks: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const frames = openFrameCheck()
  for await (const chunk of chunks) {
    frames.take(chunk)
    yield chunk
  }
  frames.end()
}

function isDamage(error: unknown): error is Error {
  if (error instanceof BrokenFrame) return true
  return error instanceof Error && 'code' in error && /^(Z_|ZSTD_)/.test(String(error.code))
}

function damaged(compression: Compression, name: string, why: string, cause?: Error): FileRefused {
  return new FileRefused(
    `The ${compression} data of ${name} is damaged or cut off (${why}): nothing was stored.`,
    `Fetch the file again; \`${compression} --test\` checks whether it is complete.`,
    cause && { cause },
  )
}
