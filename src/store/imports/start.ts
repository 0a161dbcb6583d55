import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'
import { inTransaction } from '../database.ts'
import { fenceWithLease, type Lease } from '../leases.ts'
import { type Pause, pauseRunning } from './outcomes.ts'
import { findHeldElsewhere, isAnotherInFlight, leaveOutSent, markMaybeSent } from './screen.ts'
import { settleLostClaimsOfPage } from './waiting.ts'

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
 * running if it was queued. If others may have sent some of its rows, these are called resent, or the import is paused.
 * Rows doubted before a pause get another chance: what was wrong may have been mended. Null if a call of another import
 * of the page, whose worker is lost, may still be under way. Throws `LeaseLost`.
 *
 * The lease is checked last: its row stays locked from then on, and it could not be renewed meanwhile.
 */
export async function startImport(pool: Pool, importId: bigint, lease: Lease): Promise<Started | null> {
  await settleLostClaimsOfPage(pool, importId)
  return inTransaction(pool, async client => {
    await client.query('select from ferry.imports where id = $1 for update', [importId])
    if (await isAnotherInFlight(client, importId)) return null
    const held = await screen(client, importId)
    await fenceWithLease(client, lease)
    await client.query(
      `update ferry.import_batches b set state = 'ready', set_aside = '{}', reasons = '{}' from ferry.imports i
       where i.id = $1 and i.status = 'queued' and b.import_id = i.id and b.state = 'doubted'`,
      [importId],
    )
    await client.query(
      `update ferry.imports set started_at = coalesce(started_at, clock_timestamp()),
         screened_at = case when not $2 then clock_timestamp() end,
         status = case status when 'queued' then 'running' else status end
       where id = $1`,
      [importId, held !== null],
    )
    if (held) await pauseRunning(client, importId, held)
    return readStarted(client, importId)
  })
}

/**
 * Leaves out whom others have sent, and calls resent whom they may have; returns why the import is to be paused instead,
 * or null. With `--update` the uncertain come first: settings that may have arrived decide whether others are the latest.
 */
async function screen(client: PoolClient, importId: bigint): Promise<Pause | null> {
  const { rows } = await client.query<{ update_existing: boolean }>(
    'select update_existing from ferry.imports where id = $1',
    [importId],
  )
  const isUpdate = rows[0]?.update_existing ?? false
  if (!isUpdate) await leaveOutSent(client, importId)
  const held = await findHeldElsewhere(client, importId)
  if (held) return held
  await markMaybeSent(client, importId)
  if (isUpdate) await leaveOutSent(client, importId)
  return null
}

async function readStarted(client: PoolClient, importId: bigint): Promise<Started> {
  const { rows } = await client.query<Started>(
    'select status, accepted, failures from ferry.imports where id = $1',
    [importId],
  )
  const [row] = rows
  if (!row) throw new Error(`there is no import ${importId}`)
  return row
}
