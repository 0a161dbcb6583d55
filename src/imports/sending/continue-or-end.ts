import type { PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { onlyRow } from '#src/db/rows.ts'
import { tellOfStatus } from '#src/imports/events.ts'
import { imports } from '#src/imports/schema.ts'
import { IS_OPEN } from '#src/imports/uncertain.ts'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'

/**
 * Continues or ends an undecided import of which nothing is uncertain any more, or something is to be sent again. Returns its
 * status. Any other import stays as it is.
 */
export async function continueOrEnd(client: PoolClient, id: bigint): Promise<ImportStatus> {
  const left = await loadLeft(client, id)
  const { status } = left
  if (status !== 'undecided') return status
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

const Left = z.object({ status: z.enum(IMPORT_STATUSES), toSend: z.boolean(), uncertain: z.boolean() })
type Left = z.infer<typeof Left>

/** Whether an import has rows to send, in batches or not in any yet, and whether it has uncertain ones. */
async function loadLeft(client: PoolClient, id: bigint): Promise<Left> {
  const { rows } = await client.query(
    `select i.status, exists (select from ferry.import_batches b where b.import_id = $1 and ${IS_OPEN})
         or (select r.line from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to
             order by r.line limit 1) is not null as "toSend",
       exists (select from ferry.import_batches where import_id = $1 and state = 'uncertain') as uncertain
     from ferry.imports i where i.id = $1`,
    [id],
  )
  return Left.parse(onlyRow(rows, 'looking at what is left of an import'))
}
