import type { PoolClient } from 'pg'
import { drizzleOf } from '#src/db/drizzle.ts'
import { onlyRow } from '#src/db/rows.ts'
import { imports } from '#src/imports/schema.ts'
import { FIRST_STATUS } from '#src/model/import-moves.ts'
import { reserveSpace } from './disk-space.ts'

/** Where staged rows go: into Ferry's tables, or for a dry run into temporary tables of the transaction. */
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

/** A staging in its transaction. Others see nothing of it before the transaction ends, and never if it fails. */
export type Staging = { readonly id: bigint; readonly tables: StagingTables }

/** An import to be staged; what its rows decide is set when they are all stored. */
export type NewImport = Omit<typeof imports.$inferInsert, 'status'>

/** Begins to stage an import. A dry run has no id: its tables hold 0 instead. */
export async function beginStaging(
  client: PoolClient,
  newImport: NewImport,
  isDryRun: boolean,
): Promise<Staging> {
  // Rows may come from a pipe, slowly. The statistics of the tables know nothing of the rows just written, so the planner
  // would choose a nested loop over a million of them. A loop that it cannot avoid then seems so expensive that it would be
  // compiled, which takes longer than it saves.
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

async function insertImport(client: PoolClient, newImport: NewImport): Promise<bigint> {
  const rows = await drizzleOf(client)
    .insert(imports)
    .values({ ...newImport, status: FIRST_STATUS })
    .returning({ id: imports.id })
  return onlyRow(rows, 'inserting an import').id
}
