import type { Pool, PoolClient } from 'pg'

export type PutBatch = {
  /** How many lines it reaches over. */
  lines?: number
  state?: string
  uncertain?: boolean
  resends?: number
  /** Milliseconds from now; below 0, the claim has ended. */
  claimEndsInMs?: number
  sentSecondsAgo?: number
  errorCode?: string
  requestId?: string
}

/**
 * Puts batches of a staged import into the tables, one after another from its first line on, as sending would leave
 * them, each with a call in the call log; returns their ids.
 */
export async function putBatches(
  pool: Pool,
  id: bigint,
  batches: readonly PutBatch[],
  limitKey = 'account:default',
): Promise<bigint[]> {
  const ids: bigint[] = []
  let from = 2
  const client = await pool.connect()
  // At once: every row is accounted for at every moment.
  try {
    await client.query('begin')
    for (const batch of batches) {
      const to = from + (batch.lines ?? 1) - 1
      ids.push(await putBatch(client, id, from, to, batch, limitKey))
      if (batch.state !== 'split') from = to + 1
    }
    await client.query('update ferry.imports set batched_to = $2 where id = $1', [id, from - 1])
    await client.query('commit')
    return ids
  } finally {
    client.release(true)
  }
}

/**
 * Puts batches of equal size into the tables, after those that are there: thousands at once, for tests of what many batches
 * cost. No calls were made for them.
 */
export async function putEqualBatches(
  pool: Pool,
  id: bigint,
  { batches, rows, state = 'sent' }: { batches: number; rows: number; state?: 'sent' | 'ready' },
): Promise<void> {
  await pool.query(
    `with first as (
       select greatest(batched_to, 1) + 1 as line from ferry.imports where id = $1
     ), put as (
       insert into ferry.import_batches (import_id, from_line, to_line, rows, state, sent_at, claimed_at)
       select $1, line + n * $3, line + n * $3 + $3 - 1, $3, $4, case when $4 = 'sent' then clock_timestamp() end,
         case when $4 = 'sent' then clock_timestamp() end
       from first, generate_series(0, $2::int - 1) n
     )
     update ferry.imports set batched_to = line - 1 + $2 * $3::int from first where id = $1`,
    [id, batches, rows, state],
  )
}

async function putBatch(
  client: PoolClient,
  id: bigint,
  from: number,
  to: number,
  batch: PutBatch,
  limitKey: string,
): Promise<bigint> {
  const { state = 'ready', uncertain = false, resends = 0, claimEndsInMs = null } = batch
  const { sentSecondsAgo = 0, errorCode = null, requestId = null } = batch
  const { rows } = await client.query<{ id: string }>(
    `with call as (
       insert into ferry.platform_calls (limit_key, account, operation, started, counted_by, finished, request_id)
       select $11, account, 'import-subscribers', at, at + interval '5 s', at, $10
       from ferry.imports, (select clock_timestamp() - $8 * interval '1 s' as at) t
       where id = $1 and $4 <> 'ready' returning id
     ), batch as (
       insert into ferry.import_batches (import_id, from_line, to_line, rows, state, uncertain, resends, claim,
         claimed_at, claim_ends_at, sent_at, call_id, error_code, request_id)
       select $1, $2, $3, (select count(*) from ferry.import_recipients where import_id = $1 and line between $2 and $3),
         $4, $5, $6, case when $4 = 'in flight' then gen_random_uuid() end,
         case when $4 <> 'ready' then clock_timestamp() end, clock_timestamp() + $7 * interval '1 ms',
         case when $4 = 'sent' then clock_timestamp() - $8 * interval '1 s' end, (select id from call), $9, $10
       returning id
     )
     select id from batch`,
    [id, from, to, state, uncertain, resends, claimEndsInMs, sentSecondsAgo, errorCode, requestId, limitKey],
  )
  const batchId = rows[0]?.id ?? ''
  await client.query(
    `with call as (
       update ferry.platform_calls set batch_id = $1
       where id = (select call_id from ferry.import_batches where id = $1) returning id
     )
     update ferry.imports set requests = requests + (select count(*) from call) where id = $2`,
    [batchId, id],
  )
  return BigInt(batchId)
}
