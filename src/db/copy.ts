import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Characters collected before a write to the socket, so that the cost of the calls does not matter. */
const CHUNK_SIZE = 128 * 1024

const SPECIAL = /[\\\n\r\t]/
const EACH_SPECIAL = /[\\\n\r\t]/g
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' }

/** What waits for the socket, so that Postgres has something to do while this process does something else. */
const BUFFERED_BYTES = 1024 * 1024

/**
 * A COPY from lines of its text format, open until it is ended or aborted. Meanwhile nothing else may be asked of the
 * connection, which without lines for 15 s is taken for a silent one.
 */
export class OpenCopy {
  readonly #lines = new PassThrough({ highWaterMark: BUFFERED_BYTES })
  readonly #done: Promise<void>

  /** `target` is a table with its columns. */
  constructor(client: PoolClient, target: string) {
    const stream = copyFrom(`copy ${target} from stdin`, { highWaterMark: BUFFERED_BYTES })
    this.#done = pipeline(this.#lines, client.query(stream))
    this.#done.catch(() => {}) // thrown by what comes next
  }

  /**
   * With `latin1`, each character of a line is one byte. Lines are taken from the iterable only as fast as Postgres accepts
   * them, so memory does not grow with their number.
   */
  async write(lines: Iterable<string>, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<void> {
    try {
      for (const chunk of chunked(lines, encoding)) {
        if (this.#lines.destroyed) await this.#done
        if (!this.#lines.write(chunk)) await Promise.race([once(this.#lines, 'drain'), this.#done])
      }
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  /** Resolves when Postgres has all lines. */
  async end(): Promise<void> {
    this.#lines.end()
    await this.#done
  }

  /** Postgres takes none of the lines, and has its transaction rolled back. */
  async abort(): Promise<void> {
    this.#lines.destroy()
    await this.#done.catch(() => {})
  }
}

/** Returns one field in COPY's text format; null is `\N`. */
export function copyField(value: string | null): string {
  if (value === null) return '\\N'
  return SPECIAL.test(value)
    ? value.replace(EACH_SPECIAL, character => ESCAPES[character] ?? character)
    : value
}

/** Returns a text[] in the syntax of Postgres. An empty list is null, which takes one bit of a row. */
export function textArray(values: readonly string[] | undefined): string | null {
  if (!values || values.length === 0) return null
  return `{${values.map(value => `"${value.replace(/["\\]/g, '\\$&')}"`).join(',')}}`
}

function* chunked(lines: Iterable<string>, encoding: 'utf8' | 'latin1'): Generator<Buffer> {
  let chunk = ''
  for (const line of lines) {
    chunk += line
    if (chunk.length >= CHUNK_SIZE) {
      yield Buffer.from(chunk, encoding)
      chunk = ''
    }
  }
  if (chunk !== '') yield Buffer.from(chunk, encoding)
}
