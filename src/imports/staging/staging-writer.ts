import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { copyField } from '#src/db/copy.ts'
import { hexOfHash } from '#src/imports/spellings.ts'
import { BinaryRows, rowStart } from './binary-rows.ts'
import type { Staging } from './staging.ts'

/** How many bytes are sent to Postgres at a time; while it stores them, as many again are gathered. */
const COPY_BYTES = 1024 * 1024

/** Writes rows by COPY into the tables of a staging, on the connection of its transaction. Hashes are 16 bytes of latin1. */
export class StagingWriter {
  readonly #client: PoolClient
  readonly #id: bigint
  readonly #targets: Record<'recipients' | 'repeated' | 'rejects' | 'leftOut', string>
  readonly #recipientStart: Buffer
  readonly #repeatedStart = rowStart(1)
  readonly #recipients = new BinaryRows(COPY_BYTES * 2)
  readonly #repeated = new BinaryRows(COPY_BYTES / 16)
  #rejects = ''
  #leftOut = ''
  /** How many recipients Postgres has, and the COPY under way. */
  #written = 0
  #copying = Promise.resolve(0)

  constructor(client: PoolClient, { id, tables }: Staging) {
    this.#client = client
    this.#id = id
    this.#recipientStart = rowStart(8, id)
    this.#targets = {
      recipients: `${tables.recipients} (import_id, line, recipient_hash, "all", component_ids, locale, recipient, raw) from stdin (format binary)`,
      repeated: 'pg_temp.import_repeated (recipient_hash) from stdin (format binary)',
      rejects: `${tables.rejects} (import_id, line, origin, reason, "column", message, raw) from stdin`,
      leftOut: `${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient) from stdin`,
    }
  }

  recipient({ line, hash, all, componentIds, locale, recipient, raw }: StagedRow): void {
    const rows = this.#recipients
    rows.begin(this.#recipientStart)
    rows.integer(line)
    rows.uuid(hash)
    rows.boolean(all)
    rows.texts(componentIds)
    rows.text(locale)
    rows.text(recipient)
    rows.text(raw)
  }

  /** A hash that an earlier row may have had. A hash that is not passed here belongs to one row only. */
  repeated(hash: string): void {
    this.#repeated.begin(this.#repeatedStart)
    this.#repeated.uuid(hash)
  }

  reject(row: { line: number; reason: string; column: string | null; message: string; raw: string }): void {
    const texts = [row.column, row.message, row.raw].map(copyField).join('\t')
    this.#rejects += `${this.#id}\t${row.line}\tfile\t${row.reason}\t${texts}\n`
  }

  leftOut(row: { line: number; reason: string; hash: string | null; recipient: string | null }): void {
    const uuid = row.hash === null ? null : hexOfHash(row.hash)
    const texts = [row.reason, uuid, row.recipient].map(copyField).join('\t')
    this.#leftOut += `${this.#id}\t${row.line}\tsuppressed\t${texts}\n`
  }

  /** Waits until there is room for more rows. Call it regularly: rows are held in memory between two calls. */
  drain(): Promise<void> {
    return this.#flush(COPY_BYTES)
  }

  /** Resolves with the number of recipients once Postgres has all rows. */
  async end(): Promise<number> {
    await this.#flush(0)
    return this.#written + (await this.#copying)
  }

  async #flush(more: number): Promise<void> {
    const targets = this.#targets
    if (this.#recipients.size > more) await this.#copy(targets.recipients, () => this.#recipients.take())
    if (this.#repeated.size > more) await this.#copy(targets.repeated, () => this.#repeated.take())
    if (this.#rejects.length > more) {
      const lines = Buffer.from(this.#rejects)
      this.#rejects = ''
      await this.#copy(targets.rejects, () => lines)
    }
    if (this.#leftOut.length > more) {
      const lines = Buffer.from(this.#leftOut)
      this.#leftOut = ''
      await this.#copy(targets.leftOut, () => lines)
    }
  }

  async #copy(target: string, rows: () => Buffer): Promise<void> {
    this.#written += await this.#copying
    const copying = copyInto(this.#client, target, rows())
    this.#copying = copying.then(count => (target === this.#targets.recipients ? count : 0))
    this.#copying.catch(() => {}) // awaited before the next COPY, and at the end
  }
}

/** `hash`: 16 bytes, as characters of latin1. */
type StagedRow = {
  readonly line: number
  readonly hash: string
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
  readonly recipient: string
  readonly raw: string
}

/** Copies `data` into `target` (a table, its columns, and the format of `data`). Resolves with the number of rows. */
export function copyInto(client: PoolClient, target: string, data: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const copy = client.query(copyFrom(`copy ${target}`))
  copy.on('finish', () => resolve(copy.rowCount))
  copy.on('error', reject)
  copy.end(data)
  return promise
}
