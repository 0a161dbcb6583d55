import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const gzipAsync = promisify(gzip)

/**
 * A piece of a body that can be sent many times, plain or gzipped.
 *
 * Each piece is a separate gzip member (RFC 1952 allows several in a row), so a listing of 100,000 rules is
 * compressed once, although every answer puts another request_id around it.
 */
export class Payload {
  readonly bytes: Buffer
  #gzipped: Promise<Buffer> | null = null

  constructor(content: string | Buffer) {
    this.bytes = typeof content === 'string' ? Buffer.from(content) : content
  }

  gzipped(): Promise<Buffer> {
    this.#gzipped ??= gzipAsync(this.bytes, { level: 1 })
    return this.#gzipped
  }
}
