import type { PoolClient } from 'pg'
import { BinaryRows, rowStart } from '#src/db/binary-rows.ts'
import { copyRows } from '#src/db/copy.ts'
import type { Staging } from './staging.ts'

/** How many bytes are sent to Postgres at a time; while it stores them, as many again are gathered. */
const COPY_BYTES = 1024 * 1024

/** Writes rows by COPY into the tables of a staging, on the connection of its transaction. Hashes are 16 bytes of latin1. */
export class StagingWriter {
  readonly #client: PoolClient
  readonly #targets: Record<'recipients' | 'repeated' | 'rejects' | 'leftOut', string>
  readonly #recipientStart: Buffer
  readonly #repeatedStart = rowStart(1)
  readonly #rejectStart: Buffer
  readonly #leftOutStart: Buffer
  readonly #recipients = new BinaryRows(COPY_BYTES * 2)
  readonly #repeated = new BinaryRows(COPY_BYTES / 16)
  readonly #rejects = new BinaryRows(COPY_BYTES / 16)
  readonly #leftOut = new BinaryRows(COPY_BYTES / 16)
  /** How many recipients Postgres has, and the COPY under way. */
  #written = 0
  #copying = Promise.resolve(0)

  constructor(client: PoolClient, { id, tables }: Staging) {
    this.#client = client
    this.#recipientStart = rowStart(8, id)
    this.#rejectStart = rowStart(7, id)
    this.#leftOutStart = rowStart(6, id)
    this.#targets = {
      recipients: `${tables.recipients} (import_id, line, recipient_hash, "all", component_ids, locale, recipient, raw)`,
      repeated: 'pg_temp.import_repeated (recipient_hash)',
      rejects: `${tables.rejects} (import_id, line, origin, reason, "column", message, raw)`,
      leftOut: `${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient)`,
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
    const rows = this.#rejects
    rows.begin(this.#rejectStart)
    rows.integer(row.line)
    for (const text of ['file', row.reason, row.column, row.message, row.raw]) rows.text(text)
  }

  leftOut(row: { line: number; reason: string; hash: string | null; recipient: string | null }): void {
    const rows = this.#leftOut
    rows.begin(this.#leftOutStart)
    rows.integer(row.line)
    for (const text of ['suppressed', row.reason]) rows.text(text)
    rows.uuid(row.hash)
    rows.text(row.recipient)
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
    if (this.#recipients.size > more) await this.#copy(targets.recipients, this.#recipients)
    if (this.#repeated.size > more) await this.#copy(targets.repeated, this.#repeated)
    if (this.#rejects.size > more) await this.#copy(targets.rejects, this.#rejects)
    if (this.#leftOut.size > more) await this.#copy(targets.leftOut, this.#leftOut)
  }

  async #copy(target: string, rows: BinaryRows): Promise<void> {
    this.#written += await this.#copying
    const copying = copyRows(this.#client, target, rows.take())
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
