import type { Pool, PoolClient } from 'pg'
import type { ImportStatus } from '#src/model/import.ts'
import { inTransaction } from '../database.ts'
import { fenceWithLease, type Lease } from '../leases.ts'
import { pauseRunning } from './outcomes.ts'
import { isAnotherInFlight, type Screened, type Screening, screen } from './screen.ts'
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
 * of the page, whose worker is lost, may still be under way, or once `signal` aborts. Throws `LeaseLost`.
 *
 * The lease is checked last: its row stays locked from then on, and it could not be renewed meanwhile.
 */
export async function startImport(
  pool: Pool,
  importId: bigint,
  lease: Lease,
  signal: AbortSignal,
): Promise<Started | null> {
  await settleLostClaimsOfPage(pool, importId)
  while (!signal.aborted) {
    const screening = await beginScreening(pool, importId, lease, signal)
    if (!screening) return null
    const started = await endScreening(pool, screening, await screen(pool, screening))
    if (started) return started
  }
  return null
}

/** Null if a call of another import of the page may still be under way. */
function beginScreening(
  pool: Pool,
  importId: bigint,
  lease: Lease,
  signal: AbortSignal,
): Promise<Screening | null> {
  return inTransaction(pool, async client => {
    await client.query('select from ferry.imports where id = $1 for update', [importId])
    if (await isAnotherInFlight(client, importId)) return null
    const { rows } = await client.query<Pick<Screening, 'beganAt' | 'isUpdate' | 'rows'>>(
      `update ferry.imports set screening_at = clock_timestamp() where id = $1
       returning screening_at::text as "beganAt", update_existing as "isUpdate",
         recipients as rows`,
      [importId],
    )
    const [began] = rows
    if (!began) throw new Error(`there is no import ${importId}`)
    await fenceWithLease(client, lease)
    return { importId, lease, signal, ...began }
  })
}

/** Null if the screening is to be done anew. */
function endScreening(
  pool: Pool,
  { importId, beganAt, lease }: Screening,
  { isWhole, held }: Screened,
): Promise<Started | null> {
  return inTransaction(pool, async client => {
    const { rows } = await client.query<{ isValid: boolean; status: ImportStatus }>(
      `select screening_at = $2 is true as "isValid", status from ferry.imports where id = $1 for update`,
      [importId, beganAt],
    )
    const goesOn = rows[0]?.status === 'queued' || rows[0]?.status === 'running'
    if (!goesOn) await client.query('update ferry.imports set screening_at = null where id = $1', [importId])
    else if (!isWhole || !rows[0]?.isValid) return null
    else {
      await client.query(
        `update ferry.import_batches b set state = 'ready', set_aside = '{}', reasons = '{}' from ferry.imports i
         where i.id = $1 and i.status = 'queued' and b.import_id = i.id and b.state = 'doubted'`,
        [importId],
      )
      await client.query(
        `update ferry.imports set started_at = coalesce(started_at, clock_timestamp()), status = 'running',
           screened_at = case when not $2 then screening_at end, screening_at = null
         where id = $1`,
        [importId, held !== null],
      )
      if (held) await pauseRunning(client, importId, held)
    }
    await fenceWithLease(client, lease)
    return readStarted(client, importId)
  })
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
