import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { copyField } from '../copy.ts'
import { openBinaryRows, rowStart } from './binary-rows.ts'
import { reserveSpace } from './full-disk.ts'

/** Where staged rows go: into Ferry's tables, or for a dry run into tables of this one transaction. */
export type StagingTables = {
  readonly recipients: string
  readonly rejects: string
  readonly leftOut: string
}

const STORED: StagingTables = {
  recipients: 'ferry.import_recipients',
  rejects: 'ferry.import_rejects',
  leftOut: 'ferry.import_left_out',
}
const TEMPORARY: StagingTables = {
  recipients: 'pg_temp.import_recipients',
  rejects: 'pg_temp.import_rejects',
  leftOut: 'pg_temp.import_left_out',
}

export type NewImport = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  readonly file: string
  readonly columns: readonly string[] | null
  readonly options: Readonly<Record<string, unknown>>
  readonly onUncertain: string
  readonly update: boolean
  readonly batchRows: number
  readonly firstRows: number | null
}

/** A staging in its transaction: nothing of it is seen before that ends, and nothing stays if it does not end well. */
export type Staging = { readonly id: bigint; readonly tables: StagingTables }

/** Begins to stage an import; a dry run has no id, and 0 stands for it in its tables. */
export async function beginStaging(
  client: PoolClient,
  newImport: NewImport,
  isDryRun: boolean,
): Promise<Staging> {
  // Rows may come from a pipe, slowly; and the tables' statistics, which know nothing of the rows just written, would
  // let the planner choose a nested loop over a million of them. A loop it must do is thought to cost so much then that
  // it would be compiled, for longer than it takes.
  await client.query(`
    set local idle_in_transaction_session_timeout = 0;
    set local enable_nestloop = off;
    set local jit = off;
    set local work_mem = '64MB';
    create temporary table import_repeated (recipient_hash uuid not null) on commit drop;
    create temporary table import_sent_before (line bigint not null) on commit drop`)
  if (!isDryRun) {
    await reserveSpace(client)
    return { id: await insertImport(client, newImport), tables: STORED }
  }
  await client.query(`
    create temporary table import_recipients (like ferry.import_recipients including all) on commit drop;
    create temporary table import_rejects (like ferry.import_rejects including all) on commit drop;
    create temporary table import_left_out (like ferry.import_left_out including all) on commit drop`)
  return { id: 0n, tables: TEMPORARY }
}

async function insertImport(client: PoolClient, row: NewImport): Promise<bigint> {
  const { rows } = await client.query<{ id: string }>(
    `insert into ferry.imports (account, page_id, method, status, file, columns, options, on_uncertain, update_existing,
       batch_rows, first_rows)
     values ($1, $2, $3, 'staging', $4, $5, $6, $7, $8, $9, $10) returning id`,
    [
      row.account,
      row.pageId,
      row.method,
      row.file,
      row.columns,
      JSON.stringify(row.options),
      row.onUncertain,
      row.update,
      row.batchRows,
      row.firstRows,
    ],
  )
  return BigInt(rows[0]?.id ?? 0)
}

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
  /** A hash that rows before may have had. One that was not told of here is of one row only. */
  repeated(hash: string): void
  reject(row: { line: number; reason: string; column: string | null; message: string; raw: string }): void
  leftOut(row: { line: number; reason: string; hash: string | null; recipient: string | null }): void
  /** Waits until there is room for more rows. To be called now and then: memory holds what came in between. */
  drain(): Promise<void>
  /** Resolves with the number of recipients once Postgres has all rows. */
  end(): Promise<number>
}

/** So much is handed to Postgres at a time; while it takes that in, as much again is gathered. */
const COPY_BYTES = 1024 * 1024

/** Opens what writes rows by COPY into the tables of a staging, over the one connection of its transaction. */
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
    copying.catch(() => {}) // it is awaited before the next, and at the end
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
      const uuid = hash === null ? null : hexOf(hash)
      leftOut += `${id}\t${line}\tsuppressed\t${copyField(reason)}\t${copyField(uuid)}\t${copyField(recipient)}\n`
    },
    drain: () => flush(COPY_BYTES),
    async end() {
      await flush(0)
      return written + (await copying)
    },
  }
}

/** A hash as text. */
export function hexOf(hash: string): string {
  return Buffer.from(hash, 'latin1').toString('hex')
}

/** Copies `data` into `target` (a table, its columns, and how they are written); resolves with the number of rows. */
export function copyInto(client: PoolClient, target: string, data: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const copy = client.query(copyFrom(`copy ${target}`))
  copy.on('finish', () => resolve(copy.rowCount))
  copy.on('error', reject)
  copy.end(data)
  return promise
}
