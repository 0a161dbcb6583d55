import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'

/** What a decision about an import rests on. */
export type ImportState = {
  readonly status: ImportStatus
  readonly staged: boolean
  readonly recipients: number
  readonly purged: boolean
}

/** Locks an import until the transaction ends and returns its state; null if there is none of that id. */
export async function lockImport(client: PoolClient, id: bigint): Promise<ImportState | null> {
  const { rows } = await client.query<ImportState>(
    `select status, staged_at is not null as staged, recipients, purged_at is not null as purged
     from ferry.imports where id = $1 for update`,
    [id],
  )
  return rows[0] ?? null
}

/** Lets the work begin; with nobody to be sent it is over at once. */
export async function setConfirmed(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `update ferry.imports set confirmed_at = clock_timestamp(),
       status = case when recipients > 0 then 'queued' else 'completed' end,
       started_at = case when recipients = 0 then clock_timestamp() end,
       finished_at = case when recipients = 0 then clock_timestamp() end
     where id = $1`,
    [id],
  )
}

export async function setPaused(client: PoolClient, id: bigint, message: string): Promise<void> {
  await client.query(
    `update ferry.imports set status = 'paused', pause_code = null, pause_request_id = null, pause_message = $2,
       pause_what_to_do = null
     where id = $1`,
    [id, message],
  )
}

/** Queues an import again as if nothing had gone wrong before. */
export async function setResumed(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `update ferry.imports set status = 'queued', failures = 0, retry_at = null, pause_code = null,
       pause_request_id = null, pause_message = null, pause_what_to_do = null
     where id = $1`,
    [id],
  )
}

export async function setStatus(
  client: PoolClient,
  id: bigint,
  status: 'queued' | 'completed' | 'cancelled',
): Promise<void> {
  await client.query(
    `update ferry.imports set status = $2, finished_at = case when $2 <> 'queued' then clock_timestamp() end
     where id = $1`,
    [id, status],
  )
}

/** Records what a person found out about uncertain batches, one or all; returns how many and their rows. */
export async function decideBatches(
  client: PoolClient,
  id: bigint,
  as: 'sent' | 'resend',
  batchId: bigint | null,
): Promise<{ batches: number; rows: number }> {
  const { rows } = await client.query<{ batches: number; rows: number }>(
    `with decided as (${as === 'sent' ? SENT : RESEND} and import_id = $1 and ($2::bigint is null or id = $2)
       returning rows)
     select count(*)::int as batches, coalesce(sum(rows), 0)::int as rows from decided`,
    [id, batchId],
  )
  return rows[0] ?? { batches: 0, rows: 0 }
}

/** `sent_at` is when the platform was called, if that is known: nobody knows it better. */
const SENT = `
  update ferry.import_batches b set state = 'sent', uncertain = false, message = 'a person said that it was sent',
    sent_at = coalesce(
      (select max(c.started) from ferry.platform_calls c where c.id = b.call_id), b.claimed_at, clock_timestamp())
  where state = 'uncertain'`

/** It stays uncertain until an answer to the second sending tells more. */
const RESEND = `
  update ferry.import_batches b set state = 'ready', resends = resends + 1, uncertain = true
  where state = 'uncertain'`

/** What is left to be done with an import. */
export async function loadLeft(
  client: PoolClient,
  id: bigint,
): Promise<{ toSend: boolean; uncertain: boolean }> {
  const { rows } = await client.query<{ toSend: boolean; uncertain: boolean }>(
    `select exists (select from ferry.import_batches where import_id = $1 and state not in ('sent', 'rejected', 'split', 'uncertain'))
         or exists (select from ferry.import_recipients r
                    where r.import_id = i.id and r.line > i.batched_to) as "toSend",
       exists (select from ferry.import_batches where import_id = $1 and state = 'uncertain') as uncertain
     from ferry.imports i where i.id = $1`,
    [id],
  )
  return rows[0] ?? { toSend: false, uncertain: false }
}

/** The imports that ended so many days ago and still hold recipients. */
export async function listUnpurged(pool: Pool, endedDaysAgo: number): Promise<bigint[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select id from ferry.imports
     where finished_at < clock_timestamp() - $1 * interval '1 day' and purged_at is null order by id`,
    [endedDaysAgo],
  )
  return rows.map(row => BigInt(row.id))
}
