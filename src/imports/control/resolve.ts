import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { reclaimExpiredOfPage } from '#src/imports/sending/reclaim.ts'
import { rejectRows } from '#src/imports/sending/reject-rows.ts'
import { IS_OPEN } from '#src/imports/uncertain.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { ImportStatus } from '#src/model/import.ts'
import { lockForDecision, recordDecision, refusal } from './decision.ts'
import { decideBatches, doubtAbout, lockPage, type Resolution } from './uncertain-batches.ts'

/** What was decided, and the status of the import after it. */
export type Resolved = { readonly batches: number; readonly rows: number; readonly status: ImportStatus }

/**
 * Records what a person found out about uncertain batches, one or all: they were sent, or they are to be sent again. Rows
 * of a cancelled import that are to be sent again are sent by the next import of the same recipients. If `doubt` is given,
 * the decision is refused unless it is about just that (see `doubtAbout`): somebody looked at these batches only.
 */
export async function resolveUncertain(
  pool: Pool,
  id: bigint,
  as: Resolution,
  batchId: bigint | null,
  by: ActedBy,
  doubt: string | null = null,
): Promise<Resolved> {
  // In a transaction of its own: what it changes is to stay, even if there is nothing to decide.
  await reclaimExpiredOfPage(pool, id)
  return inTransaction(pool, async client => {
    await lockPage(client, id)
    const state = await lockForDecision(client, id)
    const { status } = state
    if (status === 'completed') {
      throw refusal(
        id,
        status,
        'it has no uncertain batch; if another import was paused because of it, resume that one',
      )
    }
    const decided = await decideBatches(client, id, as, batchId)
    if (decided.length === 0) {
      const which = batchId === null ? 'it has no uncertain batch' : `its batch ${batchId} is not uncertain`
      throw refusal(id, status, `${which}; \`ferry imports show ${id}\` shows its batches`)
    }
    if (doubt !== null && doubt !== doubtAbout(decided)) {
      throw refusal(id, status, 'other batches are uncertain now than those that were looked at')
    }
    const rejected = as === 'sent' ? decided.filter(batch => batch.setAside > 0) : []
    for (const batch of rejected) await rejectRows(client, id, { setAsideOf: batch.id })
    await recordDecision(client, id, state, 'resolve', by)
    const rows = sum(decided.map(batch => batch.rows)) - sum(rejected.map(batch => batch.setAside))
    return { batches: decided.length, rows, status: await continueOrEnd(client, id, status) }
  })
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** An undecided import waits for decisions alone: after the last one it is sent on, or it has ended. */
async function continueOrEnd(client: PoolClient, id: bigint, status: ImportStatus): Promise<ImportStatus> {
  if (status !== 'undecided') return status
  const left = await loadLeft(client, id)
  if (!left.toSend && left.uncertain) return status
  const next = left.toSend ? 'queued' : 'completed'
  const end = left.toSend ? {} : { finished_at: sql`clock_timestamp()` }
  await drizzleOf(client)
    .update(imports)
    .set({ status: next, ...end })
    .where(eq(imports.id, id))
  await tellOfStatus(client, id)
  return next
}

const Left = z.object({ toSend: z.boolean(), uncertain: z.boolean() })
type Left = z.infer<typeof Left>

/** Whether an import has rows to send, in batches or not in any yet, and whether it has uncertain ones. */
async function loadLeft(client: PoolClient, id: bigint): Promise<Left> {
  const { rows } = await client.query(
    `select exists (select from ferry.import_batches b where b.import_id = $1 and ${IS_OPEN})
         or (select r.line from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to
             order by r.line limit 1) is not null as "toSend",
       exists (select from ferry.import_batches where import_id = $1 and state = 'uncertain') as uncertain
     from ferry.imports i where i.id = $1`,
    [id],
  )
  return Left.parse(onlyRow(rows, 'looking at what is left of an import'))
}
