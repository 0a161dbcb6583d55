import { promisify } from 'node:util'
import { gunzip } from 'node:zlib'
import type { Dispatcher } from 'undici'
import { MAX_BODY_BYTES } from './answer-size.ts'

/** zlib's default of 16 KiB would cost thousands of round trips to its thread. */
const GUNZIP_CHUNK_BYTES = 1024 * 1024

const unpack = promisify(gunzip)

/**
 * Returns the whole body, unpacked. Rejects with a code of zlib if the body is cut short, is damaged, has an encoding that
 * was not asked for, or is larger than `MAX_BODY_BYTES`, packed or unpacked.
 */
export async function readBody({
  body,
  headers,
}: Pick<Dispatcher.ResponseData, 'body' | 'headers'>): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BODY_BYTES) throw coded('ERR_BUFFER_TOO_LARGE')
    chunks.push(chunk)
  }
  const bytes = Buffer.concat(chunks, size)
  const encoding = headers['content-encoding'] ?? 'identity'
  if (encoding === 'identity') return bytes
  if (encoding !== 'gzip') throw coded('Z_DATA_ERROR')
  return unpack(bytes, { maxOutputLength: MAX_BODY_BYTES, chunkSize: GUNZIP_CHUNK_BYTES })
}

function coded(code: string): Error {
  return Object.assign(new Error(code), { code })
}
