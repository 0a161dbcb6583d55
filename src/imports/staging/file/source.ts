import { access, constants, type FileHandle, open, stat } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import { reasonOf } from '#src/model/reason.ts'
import { FileRefused } from '../file-refused.ts'
import { type Compression, compressionOf, unpacked } from './unpack.ts'

/** A file that is read once, from its beginning to its end. */
export type FileSource = AsyncDisposable & {
  /** How it is named in messages. */
  readonly name: string
  readonly compression: Compression
  /** Null if unknown: stdin. */
  readonly totalBytes: number | null
  /** How many bytes of the file itself have been read so far. */
  bytesRead(): number
  /** Its content, decompressed. */
  readonly content: AsyncGenerator<Buffer>
  /** Throws `FileRefused` if the file is not what it was when it was opened. */
  expectUnchanged(): Promise<void>
}

const CHUNK = 128 * 1024

/** Opens `path`, or stdin for `-`. Throws `FileRefused` if there is nothing there that can be read. */
export async function openSource(path: string, signal: AbortSignal): Promise<FileSource> {
  const name = path === '-' ? 'stdin' : path
  await using opened = new AsyncDisposableStack()
  const release = () => letGo(path)
  signal.addEventListener('abort', release, { once: true })
  opened.defer(() => signal.removeEventListener('abort', release))
  const handle = path === '-' ? null : opened.use(await openFile(path))
  const before = handle ? await handle.stat({ bigint: true }) : null
  if (before?.isDirectory()) throw isDirectory(path)
  // The size and the time of a pipe that is named as a file mean nothing.
  const isFile = before?.isFile() ?? false
  const stream = handle?.createReadStream({ highWaterMark: CHUNK, autoClose: false }) ?? process.stdin
  opened.defer(() => {
    stream.destroy()
  })
  let bytes = 0
  const chunks = counted(stream, signal, n => {
    bytes += n
  })
  const first = await peek(chunks, 4)
  const compression = compressionOf(first.bytes)
  const kept = opened.move()
  return {
    name,
    compression,
    totalBytes: before && isFile ? Number(before.size) : null,
    bytesRead: () => bytes,
    content: compression === 'none' ? first.all : unpacked(first.all, compression, name),
    async expectUnchanged() {
      if (!handle || !before || !isFile) return
      const now = await handle.stat({ bigint: true })
      if (now.size === before.size && now.mtimeNs === before.mtimeNs) return
      throw new FileRefused(
        `${name} was changed while it was read: nothing was stored.`,
        'Wait until the program that writes it has ended, then run this again.',
      )
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** Throws the `FileRefused` that opening it would throw. Does not open it: a pipe cannot be opened again. */
export async function expectFile(path: string): Promise<void> {
  await access(path, constants.R_OK).catch(error => {
    throw cannotOpen(path, error)
  })
  if ((await stat(path)).isDirectory()) throw isDirectory(path)
}

async function openFile(path: string): Promise<FileHandle> {
  try {
    return await open(path)
  } catch (error) {
    throw cannotOpen(path, error)
  }
}

/**
 * Ends a wait for a named pipe, to open it or for what is written to it. Nothing else does: it is a call of the system, which Node
 * cannot take back, and without whose end this process does not end either.
 */
async function letGo(path: string): Promise<void> {
  try {
    if (!(await stat(path)).isFIFO()) return
    await using writer = await open(path, constants.O_RDWR | constants.O_NONBLOCK)
    await writer.write('\n')
  } catch {
    // It is gone, or may not be written to.
  }
}

function cannotOpen(path: string, error: unknown): FileRefused {
  const missing = error instanceof Error && 'code' in error && error.code === 'ENOENT'
  return new FileRefused(
    missing ? `There is no file ${path}.` : `${path} cannot be read: ${reasonOf(error)}.`,
    missing ? 'Check the path; `-` reads from stdin.' : 'Give this user the right to read it.',
    { cause: error },
  )
}

function isDirectory(path: string): FileRefused {
  return new FileRefused(`${path} is a directory.`, 'Name the file in it.')
}

async function* counted(
  stream: Readable,
  signal: AbortSignal,
  count: (bytes: number) => void,
): AsyncGenerator<Buffer> {
  const abort = () => stream.destroy(signal.reason)
  signal.throwIfAborted()
  signal.addEventListener('abort', abort, { once: true })
  try {
    for await (const chunk of stream) {
      count(chunk.length)
      yield chunk
    }
  } catch (error) {
    signal.throwIfAborted()
    throw error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

/** Reads ahead `length` bytes, or all there are. `all` yields everything from the beginning. */
export async function peek(
  chunks: AsyncIterator<Buffer>,
  length: number,
): Promise<{ bytes: Buffer; all: AsyncGenerator<Buffer> }> {
  let bytes: Buffer = Buffer.alloc(0)
  while (bytes.length < length) {
    const { value, done } = await chunks.next()
    if (done) break
    bytes = bytes.length === 0 ? value : Buffer.concat([bytes, value])
  }
  async function* all() {
    if (bytes.length > 0) yield bytes
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) yield next.value
  }
  return { bytes, all: all() }
}
