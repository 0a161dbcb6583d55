import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { findAll } from '#src/db/rows.ts'
import { imports } from '#src/imports/schema.ts'
import type { Staging } from './begin-staging.ts'

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
  if (stored !== read) throw new Error(`${read} rows were read, but ${stored} are accounted for`)
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
