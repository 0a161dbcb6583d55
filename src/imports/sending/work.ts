import type { Pool } from 'pg'
import { z } from 'zod'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { acquireLease, LeaseLost } from '#src/db/leases.ts'
import type { ImportContext } from '#src/imports/context.ts'
import { ImportNotFound } from '#src/imports/errors.ts'
import { type ImportPage, isBehindInSql, leaseNameOf } from '#src/imports/page.ts'
import { imports } from '#src/imports/schema.ts'
import { type ImportStatus, isActive } from '#src/model/import.ts'
import type { ClaimContext } from './claims.ts'
import { BatchSending, endOf, type WorkEnd, type WorkOptions } from './send-batches.ts'
import { stepsOf } from './steps.ts'

/*
 * The work on one import, by one worker at a time:
 *
 *     lease ──► exclude rows sent before ──► claim ──► send ──► persist the outcome ──► claim ...
 *
 * `ferry_internal.claim_next_batch` decides what is to be done next, under the lock of the import's row. So nothing remembered here
 * matters to a pause, a cancellation, another worker, or a restart of this one.
 */

/** After so long another worker may take over an import whose worker died. A suspended one loses its lease before it sends. */
const LEASE_MS = 6_000

const NEVER = new AbortController().signal

/**
 * Sends an import's batches under its lease until it ends, is paused, or `yieldAfterCalls` are spent while another
 * import waits. A refusal by the platform is not an error. Throws `ImportNotFound`, and faults of Ferry or of Postgres; after
 * these the work can be continued where it ended.
 */
export async function workImport(ferry: ImportContext, id: bigint, options: WorkOptions): Promise<WorkEnd> {
  const head = await findImport(ferry.pool, id)
  if (!head) throw new ImportNotFound(id)
  const account = ferry.accounts.get(head.account)
  if (!isActive(head.status)) return endOf(head.status)
  if (!account || head.isBehind) return 'waiting'

  const log = ferry.log.child({ import: id, account: head.account })
  const lease = await acquireLease(ferry.pool, leaseNameOf(head), ferry.holder, log, { lifeMs: LEASE_MS })
  if ('heldBy' in lease) return 'busy'
  try {
    const context: ClaimContext = {
      pool: ferry.pool,
      importId: id,
      account: head.account,
      lease,
      limit: account.importLimit,
      arrivalBoundMs: ferry.arrivalBoundMs,
      claimMs: ferry.requestTimeoutMs + ferry.arrivalBoundMs,
      ownCall: ferry.ownCall,
      noticeDatabase: ferry.noticeDatabase,
    }
    const { signal, cutOff = NEVER } = options
    const steps = stepsOf(context, cutOff)
    const started = await ferry.limitWork(() => steps.start(lease, signal))
    if (!started) return signal.aborted ? 'stopped' : 'busy'
    const { client } = account
    const { pageId, method } = head
    const onWaited = (ms: number) => ferry.observer?.waited(head.account, 'import-subscribers', ms)
    const sender = { steps, client, pageId, method, cutOff, log, onWaited }
    const end = await new BatchSending(ferry, sender, started, lease, options).run()
    log.debug({ end }, 'The work on the import has ended.')
    return end
  } catch (error) {
    if (error instanceof LeaseLost) return 'busy'
    throw error
  } finally {
    await lease.release()
  }
}

/** An import as a worker sees it before it works on it. */
export type ImportHead = ImportPage & {
  readonly status: ImportStatus
  /** Whether an older import of the same page is sent first. */
  readonly isBehind: boolean
}

/** Returns null if there is no import of that id. */
export async function findImport(pool: Pool, importId: bigint): Promise<ImportHead | null> {
  const { account, page_id: pageId, method, status } = imports
  const isBehind = sql`${sql.raw(isBehindInSql('imports'))}`.mapWith(z.boolean().parse)
  const [head] = await drizzleOf(pool)
    .select({ account, pageId, method, status, isBehind })
    .from(imports)
    .where(eq(imports.id, importId))
  return head ?? null
}
