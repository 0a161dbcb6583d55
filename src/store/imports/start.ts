import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'
import { inTransaction } from '../database.ts'
import { fenceWithLease, type Lease } from '../leases.ts'

/** An import as somebody finds it who wants to work on it. */
export type ImportHead = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  readonly status: ImportStatus
  /** Whether an older import of the same page is to be worked on first. */
  readonly isBehind: boolean
}

/** Null if there is no import of that id. */
export async function findImport(pool: Pool, importId: bigint): Promise<ImportHead | null> {
  const { rows } = await pool.query<Omit<ImportHead, 'pageId'> & { page_id: string }>(
    `select i.account, i.page_id, i.method, i.status, exists (
       select from ferry.imports o
       where o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id < i.id
         and o.status in ('queued', 'running')) as "isBehind"
     from ferry.imports i where i.id = $1`,
    [importId],
  )
  const [row] = rows
  if (!row) return null
  const { account, page_id, method, status, isBehind } = row
  return { account, pageId: BigInt(page_id), method, status, isBehind }
}

/** Why an import is paused, in words without recipients. */
export async function loadPause(
  pool: Pool,
  importId: bigint,
): Promise<{ code: string | null; requestId: string | null; message: string | null } | undefined> {
  const { rows } = await pool.query(
    `select pause_code as code, pause_request_id as "requestId", pause_message as message
     from ferry.imports where id = $1`,
    [importId],
  )
  return rows[0]
}

/** Imports of one page go one after another. */
export function leaseNameOf({ account, pageId, method }: ImportHead): string {
  return `import:${account}:${pageId}:${method}`
}

export type Started = {
  readonly status: ImportStatus
  readonly accepted: number
  readonly failures: number
}

/**
 * Begins, or goes on with, the work on an import: leaves out whom other imports have sent to this page, and marks it as
 * running if it was queued. Rows doubted before a pause get another chance: what was wrong may have been mended.
 * Throws `LeaseLost`.
 *
 * The lease is checked last: its row stays locked from then on, and it could not be renewed meanwhile.
 */
export function startImport(pool: Pool, importId: bigint, lease: Lease): Promise<Started> {
  return inTransaction(pool, async client => {
    await leaveOutSent(client, importId)
    await fenceWithLease(client, lease)
    await client.query(
      `update ferry.import_batches b set state = 'ready', reasons = '{}' from ferry.imports i
       where i.id = $1 and i.status = 'queued' and b.import_id = i.id and b.state = 'doubted'`,
      [importId],
    )
    const { rows } = await client.query<Started>(
      `update ferry.imports set started_at = coalesce(started_at, clock_timestamp()),
         screened_at = clock_timestamp(), status = case status when 'queued' then 'running' else status end
       where id = $1 returning status, accepted, failures`,
      [importId],
    )
    const [row] = rows
    if (!row) throw new Error(`there is no import ${importId}`)
    return row
  })
}

/**
 * Moves rows not in a batch yet, whose recipients other imports have sent to this page, to those left out; with
 * `--update` only if the latest of these sent the same settings. Only if any has sent since the last time.
 */
async function leaveOutSent(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `with mine as materialized (
       select * from ferry.imports i where i.id = $1
     ), others as materialized (
       select b.import_id, b.from_line, b.to_line, b.sent_at
       from mine i
       join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
       join ferry.import_batches b on b.import_id = o.id and b.state = 'sent'
       where i.screened_at is null or exists (
         select from ferry.import_batches n where n.import_id = o.id and n.sent_at > i.screened_at)
     ), latest as (
       select distinct on (s.recipient_hash) s.recipient_hash, s.import_id, s."all", s.component_ids, s.locale
       from others b
       join ferry.import_recipients s on s.import_id = b.import_id and s.line between b.from_line and b.to_line
       order by s.recipient_hash, b.sent_at desc, s.import_id desc
     ), gone as (
       delete from ferry.import_recipients r using latest l, mine i
       where r.import_id = i.id and r.line > i.batched_to and r.recipient_hash = l.recipient_hash
         and (not i.update_existing or (
           r.locale = l.locale and r."all" = l."all" and (r."all" or (
             r.component_ids @> l.component_ids and r.component_ids <@ l.component_ids))))
       returning r.import_id, r.line, r.recipient_hash, r.recipient, l.import_id as earlier_import
     ), kept as (
       insert into ferry.import_left_out (import_id, line, kind, reason, recipient_hash, earlier_import, recipient)
       select import_id, line, 'already imported', 'already imported', recipient_hash, earlier_import, recipient
       from gone
     )
     update ferry.imports set recipients = recipients - (select count(*) from gone)
     where id = $1 and exists (select from gone)`,
    [importId],
  )
}
