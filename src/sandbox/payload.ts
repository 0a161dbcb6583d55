import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'

const gzipAsync = promisify(gzip)
const gunzipAsync = promisify(gunzip)

/**
 * A piece of a body that can be sent many times, plain or gzipped.
 *
 * Each piece is a separate gzip member (RFC 1952 allows several in a row), so a listing of 100,000 rules is compressed
 * once, although every answer puts another request_id around it. A piece whose content is a function is made when it is
 * first sent, and then kept gzipped only, an eighth of its size.
 */
export class Payload {
  readonly #content: Buffer | (() => Buffer)
  #gzipped: Promise<Buffer> | null = null

  constructor(content: string | Buffer | (() => Buffer)) {
    this.#content = typeof content === 'string' ? Buffer.from(content) : content
  }

  get isMadeLate(): boolean {
    return typeof this.#content === 'function'
  }

  get bytes(): Buffer {
    return typeof this.#content === 'function' ? this.#content() : this.#content
  }

  gzipped(): Promise<Buffer> {
    this.#gzipped ??= gzipAsync(this.bytes, { level: 1 })
    return this.#gzipped
  }

  /** The same as `bytes`, but the content is not made again. */
  async plain(): Promise<Buffer> {
    return typeof this.#content === 'function' ? gunzipAsync(await this.gzipped()) : this.#content
  }
}
