import type { PoolClient } from 'pg'
import { z } from 'zod'
import { findAll, Int8 } from '#src/db/rows.ts'
import type { Staging } from './staging.ts'

/** How many rows are shown, of those to be sent and of the rejected ones. */
const SAMPLES = 5

const StagedSample = z.object({
  line: Int8,
  recipient: z.string(),
  all: z.boolean(),
  componentIds: z.array(z.string()),
  locale: z.string(),
})
export type StagedSample = Readonly<z.infer<typeof StagedSample>>

const RejectSample = z.object({
  line: Int8,
  column: z.string().nullable(),
  message: z.string(),
})
export type RejectSample = Readonly<z.infer<typeof RejectSample>>

/**
 * Returns the first rows to be sent and the first rejected ones. `sentBefore` is how many rows are in `import_sent_before`:
 * they are not to be sent.
 */
export async function loadSamples(
  client: PoolClient,
  { id, tables }: Staging,
  sentBefore: number,
): Promise<{ readonly samples: StagedSample[]; readonly rejects: RejectSample[] }> {
  const samples = await findAll(
    client,
    StagedSample,
    `select line, recipient, "all", coalesce(component_ids, '{}') as component_ids, locale from ${tables.recipients} r
     where import_id = $1
       ${sentBefore > 0 ? 'and not exists (select from pg_temp.import_sent_before s where s.line = r.line)' : ''}
     order by line limit $2`,
    [id, SAMPLES],
  )
  const rejects = await findAll(
    client,
    RejectSample,
    `select line, "column", message from ${tables.rejects} where import_id = $1 order by line limit $2`,
    [id, SAMPLES],
  )
  return { samples, rejects }
}
