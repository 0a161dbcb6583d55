import type { PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { fenceWithLease } from '#src/db/leases.ts'
import { findByIndex } from '#src/db/planner.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'
import type { ClaimContext } from './claims.ts'
import { decideSuspects } from './decide.ts'
import { decideEnd, type Remainder } from './decide-end.ts'
import type { ImportState } from './decision.ts'
import { lockImport, pausedAs, suspectsInSql } from './import-state.ts'
import { firstRowsSent } from './pause.ts'
import { persistDecision } from './persist-outcome.ts'
import { loadSuspectDetails, retrySuspectsAmongSent } from './suspects.ts'

/** The import has ended or stopped, or it is to be asked again after a while. */
export type EndResult =
  | { readonly what: 'ended'; readonly status: ImportStatus }
  | { readonly what: 'wait'; readonly waitMs: number }

/**
 * Decides what becomes of an import of which nothing could be claimed, and writes it: all in one transaction that holds
 * the lease and the lock of the import, since a call may have come back after the claim was refused. Throws `LeaseLost`.
 */
export function endImport({ pool, importId, lease }: ClaimContext): Promise<EndResult> {
  return inTransaction<EndResult>(pool, async client => {
    await fenceWithLease(client, lease)
    const locked = await lockImport(client, importId)
    const remainder = await loadRemainder(client, importId)
    const decision = decideEnd(remainder)
    const update = drizzleOf(client).update(imports)
    switch (decision.to) {
      case 'ended':
        return { what: 'ended', status: remainder.status }
      case 'wait':
        return { what: 'wait', waitMs: decision.waitMs }
      case 'claim':
        return { what: 'wait', waitMs: 0 }
      case 'suspects':
        await persistSuspects(client, importId, locked)
        return { what: 'wait', waitMs: 0 }
      case 'pause': {
        const pause = firstRowsSent(importId, decision.firstRows, remainder.heldRows)
        await update.set({ ...pausedAs(pause), first_rows: null }).where(eq(imports.id, importId))
        await tellOfStatus(client, importId)
        return { what: 'ended', status: 'paused' }
      }
      case 'undecided':
        await update.set({ status: 'undecided' }).where(eq(imports.id, importId))
        await tellOfStatus(client, importId)
        return { what: 'ended', status: 'undecided' }
      case 'completed':
        await update
          .set({ status: 'completed', finished_at: sql`clock_timestamp()` })
          .where(eq(imports.id, importId))
        await tellOfStatus(client, importId)
        return { what: 'ended', status: 'completed' }
    }
  })
}

/** Has the suspects sent once more, or pauses the import for them; see `decideSuspects`. */
async function persistSuspects(client: PoolClient, importId: bigint, state: ImportState): Promise<void> {
  const decision = decideSuspects(state, await retrySuspectsAmongSent(client, importId))
  if (!decision.pause) return
  const details = await loadSuspectDetails(client, importId)
  await persistDecision(client, importId, decision, details, state.rejected)
}

const RemainderRow = z.object({
  status: z.enum(IMPORT_STATUSES),
  firstRows: z.number().nullable(),
  inFlightMs: z.number().nullable(),
  hasReadyBatch: z.boolean(),
  suspects: z.number(),
  heldRows: z.number(),
  hasMoreRows: z.boolean(),
})

/** Every look is by an index: an import may have tens of thousands of batches, and millions of rows. */
async function loadRemainder(client: PoolClient, importId: bigint): Promise<Remainder> {
  await findByIndex(client)
  const { rows } = await client.query(
    `select i.status, i.first_rows as "firstRows",
       (select extract(epoch from min(b.claim_ends_at) - clock_timestamp())::float8 * 1000
        from ferry.import_batches b where b.import_id = i.id and b.state = 'in flight') as "inFlightMs",
       exists (select from ferry.import_batches b where b.import_id = i.id and b.state = 'ready') as "hasReadyBatch",
       ${suspectsInSql('i.id')} as suspects,
       (select coalesce(sum(b.rows), 0)::int from ferry.import_batches b
        where b.import_id = i.id and b.state = 'uncertain') as "heldRows",
       (select r.line from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to
        order by r.line limit 1) is not null as "hasMoreRows"
     from ferry.imports i where i.id = $1`,
    [importId],
  )
  return RemainderRow.parse(onlyRow(rows, 'looking at what is left of an import'))
}
