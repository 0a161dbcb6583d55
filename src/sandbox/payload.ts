import { promisify } from 'node:util'
import { gzip } from 'node:zlib'

const gzipAsync = promisify(gzip)

/**
 * A piece of a body, ready to be sent many times, plain or gzipped.
 *
 * Each piece becomes a gzip member of its own (RFC 1952 lets members follow one another), so a listing of
 * 100,000 rules is compressed once although every answer wraps it in another request_id.
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
