import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** What rows of COPY's binary format are between. */
const SIGNATURE = Buffer.from('PGCOPY\n\xff\r\n\0\0\0\0\0\0\0\0\0', 'latin1')
const TRAILER = Buffer.from('\xff\xff', 'latin1')

/** What waits for the socket, so that Postgres has something to do while this process does something else. */
const BUFFERED_BYTES = 1024 * 1024

/**
 * A COPY of rows in its binary format (see `BinaryRows`), open until it is ended or aborted. Meanwhile nothing else may be asked
 * of the connection, which without rows for 15 s is taken for a silent one.
 */
export class OpenCopy {
  readonly #rows = new PassThrough({ highWaterMark: BUFFERED_BYTES })
  readonly #done: Promise<void>

  /** `target` is a table with its columns. */
  constructor(client: PoolClient, target: string) {
    const stream = copyFrom(`copy ${target} from stdin (format binary)`, { highWaterMark: BUFFERED_BYTES })
    this.#done = pipeline(this.#rows, client.query(stream))
    this.#done.catch(() => {}) // thrown by what comes next
    this.#rows.write(SIGNATURE)
  }

  /**
   * Rows are taken from the iterable only as fast as Postgres accepts them, so memory does not grow with their number. They are
   * copied: their buffers may be used again.
   */
  async write(blocks: Iterable<Buffer>): Promise<void> {
    try {
      for (const block of blocks) {
        if (this.#rows.destroyed) await this.#done
        if (!this.#rows.write(Buffer.from(block))) {
          await Promise.race([once(this.#rows, 'drain'), this.#done])
        }
      }
    } catch (error) {
      await this.abort()
      throw error
    }
  }

  /** Resolves when Postgres has all rows. */
  async end(): Promise<void> {
    this.#rows.end(TRAILER)
    await this.#done
  }

  /** Postgres takes none of the rows, and has its transaction rolled back. */
  async abort(): Promise<void> {
    this.#rows.destroy()
    await this.#done.catch(() => {})
  }
}

/** Copies rows (see `BinaryRows`) into `target`, a table with its columns. Resolves with their number. */
export function copyRows(client: PoolClient, target: string, rows: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const copy = client.query(copyFrom(`copy ${target} from stdin (format binary)`))
  copy.on('finish', () => resolve(copy.rowCount))
  copy.on('error', reject)
  copy.write(SIGNATURE)
  copy.write(rows)
  copy.end(TRAILER)
  return promise
}
