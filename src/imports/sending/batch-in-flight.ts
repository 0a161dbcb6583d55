import type { PoolClient } from 'pg'
import { z } from 'zod'
import { suspectsInSql } from './import-state.ts'
import { isProven } from './reject-rows.ts'

export const BatchInFlight = z.object({
  id: z.string().transform(BigInt),
  rows: z.number(),
  setAside: z.array(z.string().transform(BigInt)),
  proven: z.number(),
  /** Whether it was uncertain before this call. */
  uncertain: z.boolean(),
  /** Whether its call may have been made: it has a permit. */
  called: z.boolean(),
  /** What its last call was refused with, or the call of the batch it is a half of; null if it had none. */
  lastCode: z.string().nullable(),
  /** See `SentBatch`. */
  refusedAlone: z.string().nullable(),
})
export type BatchInFlight = Readonly<z.infer<typeof BatchInFlight>>

const COLUMNS = `b.id, b.rows, b.set_aside as "setAside", b.uncertain,
  (select count(*)::int from unnest(b.set_aside) line where ${isProven('b.reasons', 'line')}) as proven, b.call_id is not null as called,
  coalesce(b.error_code, (select p.error_code from ferry.import_batches p where p.id = b.parent_id)) as "lastCode",
  case when b.rows = 1 then (select r.value ->> 'code' from jsonb_each(b.reasons) r limit 1) end as "refusedAlone"`

/** The rows of the import that were refused alone are counted with it. */
const ClaimedBatch = BatchInFlight.extend({ suspects: z.number() })
type ClaimedBatch = Readonly<z.infer<typeof ClaimedBatch>>

/** Locks the batch of a claim. Null if the claim was reclaimed meanwhile: then its outcome changes nothing. */
export async function findClaimed(client: PoolClient, claim: string): Promise<ClaimedBatch | null> {
  const { rows } = await client.query(
    `select ${COLUMNS}, ${suspectsInSql('b.import_id')} as suspects from ferry.import_batches b
     where b.claim = $1 and b.state = 'in flight' for update of b`,
    [claim],
  )
  return ClaimedBatch.array().parse(rows)[0] ?? null
}

/** Locks the batches of an import whose claims have expired. */
export async function findExpired(client: PoolClient, importId: bigint): Promise<BatchInFlight[]> {
  const { rows } = await client.query(
    `select ${COLUMNS} from ferry.import_batches b
     where b.import_id = $1 and ferry.is_expired_claim(b.state, b.claim_ends_at, clock_timestamp())
     order by b.id for update of b`,
    [importId],
  )
  return BatchInFlight.array().parse(rows)
}
