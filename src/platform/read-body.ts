import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'

/*
 * How much of an answer Ferry takes into memory. A listing is read row by row and may have any number of bytes. A limit of
 * bytes alone would not be enough: 20 million rows of junk fit into 40 MB.
 */

/** A longer row is quarantined without being parsed. */
export const MAX_ROW_BYTES = 1024 * 1024
/** An answer that is not a listing, or the envelope of one. */
export const MAX_ANSWER_BYTES = 16 * 1024 * 1024
/** The rows of one listing of alert rules: about 40 bytes of each are kept while it is read. */
export const MAX_RULES = 10_000_000
/** The rows of all pages of MCP servers, which are kept until the last page has come. */
export const MAX_SERVERS = 1_000_000

/** The words for an answer beyond each bound. */
export const TOO_MUCH = {
  bytes: 'it has more than 16 MiB beside its rows',
  rules: 'it has more than 10,000,000 rows',
  servers: 'it has more than 1,000,000 rows',
} as const

/** An answer is beyond one of these bounds; the rest of it was not read. The message is one of `TOO_MUCH`. */
export class AnswerTooLarge extends Error {
  override readonly name = 'AnswerTooLarge'
}

/** zlib's default of 16 KiB would cost a round trip to its thread for every 30 rows. */
const GUNZIP_CHUNK_BYTES = 128 * 1024

/**
 * Returns the body as it comes, unpacked. Throws an error with a code of zlib if it has an encoding that was not asked for;
 * iterating throws one if the body is cut short or damaged. A caller that does not iterate to the end must destroy `body`.
 */
export function unpack({
  body,
  headers,
}: Pick<Dispatcher.ResponseData, 'body' | 'headers'>): AsyncIterable<Buffer> {
  const encoding = `${headers['content-encoding'] ?? ''}`.trim().toLowerCase()
  if (encoding === '' || encoding === 'identity') return body
  if (encoding !== 'gzip' && encoding !== 'x-gzip') throw notAskedFor()
  const unpacked = createGunzip({ chunkSize: GUNZIP_CHUNK_BYTES })
  // The reader of `unpacked` gets the error, even if it begins to read later. `pipeline` stops listening once all of the body
  // was written to `unpacked`, and an error without a listener ends the process.
  unpacked.on('error', () => {})
  pipeline(body, unpacked, () => {})
  return unpacked
}

/**
 * Frees the memory of a chunk that nobody reads any more, nor those before it. To the garbage collector it would be a heap that
 * grows: a reason to mark all of it for every 13 MB of a listing, which takes a quarter of the time of a listing without news.
 */
export function giveBack({ buffer, byteOffset, length }: Buffer): void {
  // A buffer of another size is none that zlib was given. What zlib has left of one it fills with the next chunk.
  const isOfZlib = buffer instanceof ArrayBuffer && buffer.byteLength === GUNZIP_CHUNK_BYTES
  if (isOfZlib && byteOffset + length === GUNZIP_CHUNK_BYTES) buffer.transfer(0)
}

/** Returns the whole of a body. Throws `AnswerTooLarge` beyond `MAX_ANSWER_BYTES`. */
export async function readWhole(chunks: AsyncIterable<Buffer>): Promise<Buffer> {
  const pieces: Buffer[] = []
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > MAX_ANSWER_BYTES) throw new AnswerTooLarge(TOO_MUCH.bytes)
    pieces.push(chunk)
  }
  return Buffer.concat(pieces, bytes)
}

function notAskedFor(): Error {
  return Object.assign(new Error('The encoding of the body was not asked for.'), { code: 'Z_DATA_ERROR' })
}
