import { pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { AnswerTooLarge, MAX_ANSWER_BYTES, TOO_MUCH } from './answer-size.ts'

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
