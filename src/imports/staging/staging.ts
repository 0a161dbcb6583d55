import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { findAll, onlyRow } from '#src/db/rows.ts'
import { imports } from '#src/imports/schema.ts'
import { counted } from '#src/model/counted.ts'
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

const StagedReason = z.object({
  kind: z.enum(['rejected', 'duplicate', 'suppressed', 'already imported']),
  reason: z.string(),
  rows: z.number(),
})
/** Why rows are not sent, and how many. */
export type StagedReason = Readonly<z.infer<typeof StagedReason>>

/** Counts the rows that are not sent by reason, the most frequent reason first. */
export function countReasons(client: PoolClient, { id, tables }: Staging): Promise<readonly StagedReason[]> {
  return findAll(
    client,
    StagedReason,
    `select 'rejected' as kind, reason, count(*)::int as rows from ${tables.rejects} where import_id = $1 group by reason
     union all
     select kind, reason, count(*)::int from ${tables.leftOut} where import_id = $1 group by kind, reason
     order by rows desc, reason`,
    [id],
  )
}

/** Returns how many rows the reasons of one kind are about. */
export function rowsOfKind(reasons: readonly StagedReason[], kind: StagedReason['kind']): number {
  return reasons.reduce((sum, reason) => (reason.kind === kind ? sum + reason.rows : sum), 0)
}

/** Throws unless every row read is in exactly one place: if one is missing, nothing of the file can be trusted. */
export function expectNothingMissing(
  read: number,
  recipients: number,
  reasons: readonly StagedReason[],
): void {
  const stored = reasons.reduce((sum, { rows }) => sum + rows, recipients)
  if (stored !== read)
    throw new Error(`${counted(read, 'row was', 'rows were')} read, but ${stored} are accounted for`)
}

/** Ends a staging: from now on the import waits to be confirmed. */
export async function finishStaging(
  client: PoolClient,
  { id }: Staging,
  {
    read,
    recipients,
    lastLine,
    reasons,
  }: {
    readonly read: number
    readonly recipients: number
    readonly lastLine: number
    readonly reasons: readonly StagedReason[]
  },
): Promise<void> {
  await drizzleOf(client)
    .update(imports)
    .set({
      staged_at: sql`clock_timestamp()`,
      read,
      recipients,
      last_line: BigInt(lastLine),
      rejected: rowsOfKind(reasons, 'rejected'),
      duplicate: rowsOfKind(reasons, 'duplicate'),
      suppressed: rowsOfKind(reasons, 'suppressed'),
    })
    .where(eq(imports.id, id))
}

/** Updates the planner's statistics of the rows just staged, for the columns that they are looked up by: all would take long. */
export async function analyzeRecipients(pool: Pool): Promise<void> {
  await pool.query('analyze ferry.import_recipients (import_id, line, recipient_hash)')
  await pool.query('analyze ferry.import_batches (import_id, state, from_line, sent_at, call_id)')
}
