import type { PoolClient } from 'pg'
import { z } from 'zod'
import { findByIndex } from '#src/db/planner.ts'
import { findOne } from '#src/db/rows.ts'
import { type LockedImport, type Moved, moveImport } from '#src/imports/move-import.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { Left } from '#src/model/import-moves.ts'
import { suspectsInSql } from './import-state.ts'

const Remainder = z.object({
  /** Until the first claim in flight expires; null if no call is in flight. */
  inFlightMs: z.number().nullable(),
  hasReadyBatch: z.boolean(),
  /** Rows that were refused alone. */
  suspects: z.number(),
  /** Rows in batches that are held for a person. */
  heldRows: z.number(),
  /** Whether there are rows that are in no batch yet. */
  hasMoreRows: z.boolean(),
})
/** The rest of a confirmed import, in its batches and beyond them. */
export type Remainder = Readonly<z.infer<typeof Remainder>>

/** Every look is by an index: an import may have tens of thousands of batches, and millions of rows. */
export async function loadRemainder(client: PoolClient, importId: bigint): Promise<Remainder> {
  await findByIndex(client)
  return findOne(
    client,
    Remainder,
    `select
       (select extract(epoch from min(b.claim_ends_at) - clock_timestamp())::float8 * 1000
        from ferry.import_batches b where b.import_id = i.id and b.state = 'in flight') as in_flight_ms,
       exists (select from ferry.import_batches b where b.import_id = i.id and b.state = 'ready') as has_ready_batch,
       ${suspectsInSql('i.id')} as suspects,
       (select coalesce(sum(b.rows), 0)::int from ferry.import_batches b
        where b.import_id = i.id and b.state = 'uncertain') as held_rows,
       (select r.line from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to
        order by r.line limit 1) is not null as has_more_rows
     from ferry.imports i where i.id = $1`,
    [importId],
  )
}

export function leftOf(remainder: Remainder): Exclude<Left, 'file'> {
  const { inFlightMs, hasReadyBatch, suspects, heldRows, hasMoreRows } = remainder
  if (inFlightMs !== null || hasReadyBatch || suspects > 0 || hasMoreRows) return 'rows'
  return heldRows > 0 ? 'uncertain' : 'nothing'
}

/**
 * Moves an import after a decision about its batches. Its remainder is loaded only if it waited for that decision: any other
 * import keeps its status.
 */
export async function moveResolved(
  client: PoolClient,
  found: LockedImport,
  by: ActedBy | null,
): Promise<Moved> {
  const left = found.status === 'undecided' ? leftOf(await loadRemainder(client, found.id)) : undefined
  return moveImport(client, found, { event: 'resolve', left, by })
}
