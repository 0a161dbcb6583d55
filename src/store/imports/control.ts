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

/**
 * Has the other imports of a page look anew at what was sent, for a decision about one of them. All of them are locked, in the order of their ids: two decisions at once do not wait for each other.
 */
export async function openForDecision(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `select from ferry.imports o join ferry.imports i
       on o.account = i.account and o.page_id = i.page_id and o.method = i.method
     where i.id = $1 order by o.id for update of o`,
    [id],
  )
  await client.query(
    `update ferry.imports o set screened_at = null, screening_at = null from ferry.imports i
     where i.id = $1 and o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
       and o.finished_at is null and coalesce(o.screened_at, o.screening_at) is not null`,
    [id],
  )
}

export type DecidedBatch = { readonly id: bigint; readonly rows: number; readonly setAside: number }

/**
 * Records what a person found out about uncertain batches, one or all, those that were to be sent again by themselves
 * included; returns them. Lines set aside of one that was sent are still to be moved.
 */
export async function decideBatches(
  client: PoolClient,
  id: bigint,
  as: 'sent' | 'resend',
  batchId: bigint | null,
): Promise<DecidedBatch[]> {
  const { rows } = await client.query<{ id: string; rows: number; setAside: number }>(
    `${as === 'sent' ? SENT : RESEND}
     where (state = 'uncertain' or (state in ('ready', 'doubted') and uncertain))
       and import_id = $1 and ($2::bigint is null or id = $2)
     returning id, rows, cardinality(set_aside) as "setAside"`,
    [id, batchId],
  )
  return rows.map(row => ({ ...row, id: BigInt(row.id) }))
}

/** `sent_at` is when the platform was called, if that is known: nobody knows it better. */
const SENT = `
  update ferry.import_batches b set state = 'sent', uncertain = false, message = 'a person said that it was sent',
    sent_at = coalesce(
      (select max(c.started) from ferry.platform_calls c where c.id = b.call_id), b.claimed_at, clock_timestamp())`

/** No more uncertain, since it is decided; but if it arrived all the same, it is the resend that says so. */
const RESEND = `
  update ferry.import_batches b set state = case state when 'uncertain' then 'ready' else state end,
    resends = resends + (state = 'uncertain')::int, uncertain = false`

/** What is left to be done with an import. */
export async function loadLeft(
  client: PoolClient,
  id: bigint,
): Promise<{ toSend: boolean; uncertain: boolean }> {
  const { rows } = await client.query<{ toSend: boolean; uncertain: boolean }>(
    `select exists (select from ferry.import_batches where import_id = $1 and state in ('ready', 'in flight', 'doubted'))
         or (select r.line from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to
             order by r.line limit 1) is not null as "toSend",
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
