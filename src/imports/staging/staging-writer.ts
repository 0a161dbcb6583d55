import type { PoolClient } from 'pg'
import { copyField } from '#src/db/copy.ts'
import { hexOfHash } from '#src/imports/recipient-hash.ts'
import type { Staging } from './begin-staging.ts'
import { openBinaryRows, rowStart } from './binary-rows.ts'
import { copyInto } from './copy-into.ts'

export type StagingWriter = {
  /** Hashes are 16 bytes, as characters of latin1. */
  recipient(row: {
    line: number
    hash: string
    all: boolean
    componentIds: readonly string[]
    locale: string
    recipient: string
    raw: string
  }): void
  /** A hash that an earlier row may have had. A hash that is not passed here belongs to one row only. */
  repeated(hash: string): void
  reject(row: { line: number; reason: string; column: string | null; message: string; raw: string }): void
  leftOut(row: { line: number; reason: string; hash: string | null; recipient: string | null }): void
  /** Waits until there is room for more rows. Call it from time to time: rows are held in memory between two calls. */
  drain(): Promise<void>
  /** Resolves with the number of recipients once Postgres has all rows. */
  end(): Promise<number>
}

/** So many bytes are sent to Postgres at a time; while it stores them, as many again are gathered. */
const COPY_BYTES = 1024 * 1024

/** Writes rows by COPY into the tables of a staging, on the connection of its transaction. */
export function openStagingWriter(client: PoolClient, { id, tables }: Staging): StagingWriter {
  const recipients = openBinaryRows(COPY_BYTES * 2)
  const repeated = openBinaryRows(COPY_BYTES / 16)
  const recipientStart = rowStart(8, id)
  const repeatedStart = rowStart(1)
  let rejects = ''
  let leftOut = ''
  let written = 0
  let copying = Promise.resolve(0)

  async function copyOf(target: string, rows: () => Buffer): Promise<void> {
    written += await copying
    copying = copyInto(client, target, rows()).then(count => (target === targets.recipients ? count : 0))
    copying.catch(() => {}) // awaited before the next COPY, and at the end
  }
  async function flush(more: number): Promise<void> {
    if (recipients.size() > more) await copyOf(targets.recipients, recipients.take)
    if (repeated.size() > more) await copyOf(targets.repeated, repeated.take)
    if (rejects.length > more) {
      const lines = Buffer.from(rejects)
      rejects = ''
      await copyOf(targets.rejects, () => lines)
    }
    if (leftOut.length > more) {
      const lines = Buffer.from(leftOut)
      leftOut = ''
      await copyOf(targets.leftOut, () => lines)
    }
  }
  const targets = {
    recipients: `${tables.recipients} (import_id, line, recipient_hash, "all", component_ids, locale, recipient, raw) from stdin (format binary)`,
    repeated: 'pg_temp.import_repeated (recipient_hash) from stdin (format binary)',
    rejects: `${tables.rejects} (import_id, line, origin, reason, "column", message, raw) from stdin`,
    leftOut: `${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient) from stdin`,
  }

  return {
    recipient({ line, hash, all, componentIds, locale, recipient, raw }) {
      recipients.begin(recipientStart)
      recipients.integer(line)
      recipients.uuid(hash)
      recipients.boolean(all)
      recipients.texts(componentIds)
      recipients.text(locale)
      recipients.text(recipient)
      recipients.text(raw)
    },
    repeated(hash) {
      repeated.begin(repeatedStart)
      repeated.uuid(hash)
    },
    reject({ line, reason, column, message, raw }) {
      rejects += `${id}\t${line}\tfile\t${reason}\t${copyField(column)}\t${copyField(message)}\t${copyField(raw)}\n`
    },
    leftOut({ line, reason, hash, recipient }) {
      const uuid = hash === null ? null : hexOfHash(hash)
      leftOut += `${id}\t${line}\tsuppressed\t${copyField(reason)}\t${copyField(uuid)}\t${copyField(recipient)}\n`
    },
    drain: () => flush(COPY_BYTES),
    async end() {
      await flush(0)
      return written + (await copying)
    },
  }
}
