import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'
import { copyField, textArray } from '../copy.ts'

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

/** Begins to stage an import, whose id is null for a dry run. */
export async function beginStaging(
  client: PoolClient,
  newImport: NewImport,
  isDryRun: boolean,
): Promise<Staging> {
  // Rows may come from a pipe, slowly; and the tables' statistics, which know nothing of the rows just written, would
  // let the planner choose a nested loop over a million of them.
  await client.query(`
    set local idle_in_transaction_session_timeout = 0;
    set local enable_nestloop = off;
    set local work_mem = '64MB'`)
  if (!isDryRun) return { id: await insertImport(client, newImport), tables: STORED }
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
  recipient(row: {
    line: number
    hash: string
    all: boolean
    componentIds: readonly string[]
    locale: string
    recipient: string
    raw: string
  }): void
  reject(row: { line: number; reason: string; column: string | null; message: string; raw: string }): void
  leftOut(row: { line: number; reason: string; hash: string | null; recipient: string | null }): void
  /** Waits until there is room for more rows. To be called now and then: memory holds what came in between. */
  drain(): Promise<void>
  /** Resolves once Postgres has all rows. */
  end(): Promise<void>
}

/** So much is handed to Postgres at a time; while it takes that in, as much again is gathered. */
const COPY_CHARACTERS = 1024 * 1024

/** Opens what writes rows by COPY into the three tables, over the one connection of the transaction. */
export function openStagingWriter(client: PoolClient, { id, tables }: Staging): StagingWriter {
  const targets = {
    recipients: `${tables.recipients} (import_id, line, recipient_hash, "all", component_ids, locale, recipient, raw)`,
    rejects: `${tables.rejects} (import_id, line, origin, reason, "column", message, raw)`,
    leftOut: `${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient)`,
  }
  const gathered = { recipients: '', rejects: '', leftOut: '' }
  let copying = Promise.resolve()

  async function flush(more: number): Promise<void> {
    for (const table of ['recipients', 'rejects', 'leftOut'] as const) {
      if (gathered[table].length <= more) continue
      await copying
      const lines = Buffer.from(gathered[table])
      gathered[table] = ''
      copying = copyInto(client, targets[table], lines)
      copying.catch(() => {}) // it is awaited before the next, and at the end
    }
  }

  return {
    recipient({ line, hash, all, componentIds, locale, recipient, raw }) {
      const ids = componentIds.length === 0 ? '\\N' : copyField(textArray(componentIds))
      gathered.recipients += `${id}\t${line}\t${hash}\t${all ? 't' : 'f'}\t${ids}\t${locale}\t${copyField(recipient)}\t${copyField(raw)}\n`
    },
    reject({ line, reason, column, message, raw }) {
      gathered.rejects += `${id}\t${line}\tfile\t${reason}\t${copyField(column)}\t${copyField(message)}\t${copyField(raw)}\n`
    },
    leftOut({ line, reason, hash, recipient }) {
      gathered.leftOut += `${id}\t${line}\tsuppressed\t${copyField(reason)}\t${copyField(hash)}\t${copyField(recipient)}\n`
    },
    drain: () => flush(COPY_CHARACTERS),
    async end() {
      await flush(0)
      await copying
    },
  }
}

/** Resolves once Postgres has taken in lines of COPY's text format. */
export function copyInto(client: PoolClient, target: string, lines: Buffer): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const copy = client.query(copyFrom(`copy ${target} from stdin`))
  copy.on('finish', resolve)
  copy.on('error', reject)
  copy.end(lines)
  return promise
}
