import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import type { OwnCall } from '#src/db/known-database.ts'
import type { Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { findOne, Int8 } from '#src/db/rows.ts'
import { MAX_BATCH_BYTES, ROW_OVERHEAD_BYTES } from '#src/imports/estimate.ts'
import type { Permit } from '#src/model/call.ts'
import { IMPORT_STATUSES, type ImportStatus } from '#src/model/import.ts'
import { guardedMs, type Limit, POLL_SOON_MS } from '#src/model/limit.ts'
import { type Moment, momentNow } from '#src/model/moment.ts'
import { LARGEST_FIRST_AFTER } from './decide.ts'
import { lockImport } from './import-state.ts'
import { persistLateOutcome, releaseCall } from './late-outcome.ts'
import { reclaimImport } from './reclaim.ts'

/** Whose claims these are, and what they need to know of the platform. */
export type ClaimContext = {
  readonly pool: Pool
  readonly importId: bigint
  readonly account: string
  readonly lease: Pick<Lease, 'name' | 'token'>
  readonly limit: Limit
  readonly arrivalBoundMs: number
  /** After this time, a claim without an outcome counts as uncertain. */
  readonly claimMs: number
  readonly ownCall: OwnCall
  /** Records that this is not the database that Ferry knew, and holds its imports. */
  noticeDatabase(): Promise<unknown>
}

/** A batch to be sent, with the permit of its call. */
export type Claim = {
  readonly batchId: bigint
  /** By it alone an outcome is recorded: no other claim has the same. */
  readonly claim: string
  readonly permit: Permit
}

export type ClaimResult =
  | { readonly what: 'claimed'; readonly claim: Claim }
  | { readonly what: 'wait'; readonly waitMs: number; readonly pollSoon: boolean }
  /** The import is not running any more. */
  | { readonly what: 'ended'; readonly status: ImportStatus }
  /** Nothing is left to claim, see `endImport`; or the lease or the claim is not the caller's any more. */
  | { readonly what: 'exhausted' | 'lost' }

/** However long the wait, the import may be paused meanwhile. */
const MAX_POLL_MS = 1_000

/** Returns after how many milliseconds to ask again for what was not available. */
export function pollAfterMs({
  waitMs,
  pollSoon,
}: {
  readonly waitMs: number
  readonly pollSoon?: boolean
}): number {
  return Math.max(1, Math.min(waitMs, pollSoon ? POLL_SOON_MS : MAX_POLL_MS))
}

/** Made by `newClaim` or `newPermit`. */
export type ClaimRequest = {
  readonly claim: string
  readonly isAgain: boolean
  /** Before the claim was first asked for. */
  readonly askedAt: Moment
}

/** Asks for the next batch. */
export function newClaim(): ClaimRequest {
  return { claim: randomUUID(), isAgain: false, askedAt: momentNow() }
}

/** Asks for another permit for a claim that has returned its own. */
export function newPermit(claim: string): ClaimRequest {
  return { claim, isAgain: true, askedAt: momentNow() }
}

/** Imports that wait for permits of one limit take turns; one that has not asked for this long no longer waits. */
const TURN_LAPSES_MS = 2_000

/** How often a waiting import notes that it still waits: often enough that its turn does not lapse. */
const NOTE_WAITING_EVERY_MS = 500

/** An import whose turn it is asks as soon as there is a permit, so the others ask again soon after it. */
const ASK_AFTER_TURN_MS = 20

/**
 * Claims the next batch and acquires a permit for it, both or neither; see `claim_next_batch.sql`. The same request may be
 * repeated: a claim that was made although its answer was lost is returned again. Claims of the import that have expired
 * are reclaimed before: their batches are claimed first.
 */
export async function claimBatch(context: ClaimContext, request: ClaimRequest): Promise<ClaimResult> {
  for (;;) {
    const row = await tryClaim(context, request)
    if (row.what === 'expired') await reclaimImport(context.pool, context.importId)
    else if (row.what === 'unknown') await context.noticeDatabase()
    else return resultOf(context, request, row)
  }
}

function tryClaim(context: ClaimContext, request: ClaimRequest): Promise<ClaimRow> {
  return findOne(
    context.pool,
    ClaimRow,
    `select * from ferry_internal.claim_next_batch(p_import => $1, p_lease => $2, p_token => $3, p_claim => $4, p_again => $5,
       p_limit_key => $6, p_max_calls => $7, p_window_ms => $8, p_arrival_bound_ms => $9, p_claim_ms => $10,
       p_max_bytes => $11, p_row_overhead_bytes => $12, p_largest_first_after => $13, p_turn_lapses_ms => $14,
       p_note_waiting_every_ms => $15, p_own_call => $16, p_own_request_id => $17, p_own_age_ms => $18,
       p_accounts => $19)`,
    [
      context.importId,
      context.lease.name,
      context.lease.token,
      request.claim,
      request.isAgain,
      context.limit.limitKey,
      context.limit.windows.map(window => window.maxCalls),
      context.limit.windows.map(window => guardedMs(window.windowMs)),
      guardedMs(context.arrivalBoundMs),
      context.claimMs,
      MAX_BATCH_BYTES,
      ROW_OVERHEAD_BYTES,
      LARGEST_FIRST_AFTER,
      TURN_LAPSES_MS,
      NOTE_WAITING_EVERY_MS,
      ...context.ownCall.values(),
      context.limit.accounts ?? [],
    ],
  )
}

function resultOf(
  { account }: ClaimContext,
  { claim, askedAt }: ClaimRequest,
  row: Exclude<ClaimRow, { what: 'expired' | 'unknown' }>,
): ClaimResult {
  switch (row.what) {
    case 'claimed': {
      const call = { account, operation: 'import-subscribers', runId: null } as const
      const permit = { callId: row.callId, call, askedAt }
      return { what: 'claimed', claim: { batchId: row.batchId, claim, permit } }
    }
    case 'wait':
      return { what: 'wait', waitMs: row.waitMs, pollSoon: row.pollSoon }
    case 'turn':
      return { what: 'wait', waitMs: ASK_AFTER_TURN_MS, pollSoon: true }
    default:
      return row
  }
}

const ClaimRow = z.discriminatedUnion('what', [
  z.object({ what: z.literal('claimed'), batchId: Int8, callId: Int8 }),
  z.object({ what: z.literal('wait'), waitMs: z.number(), pollSoon: z.boolean() }),
  z.object({ what: z.literal('turn') }),
  z.object({ what: z.literal('exhausted') }),
  z.object({ what: z.literal('expired') }),
  z.object({ what: z.literal('unknown') }),
  z.object({ what: z.literal('ended'), status: z.enum(IMPORT_STATUSES) }),
  z.object({ what: z.literal('lost') }),
])
type ClaimRow = z.infer<typeof ClaimRow>

/**
 * Returns the permit of a claim: nothing was sent with it. The claim stays, without a call. If it was reclaimed meanwhile,
 * its batch was not sent by it.
 */
export async function returnPermit(
  { pool, importId }: ClaimContext,
  claim: string,
  permit: Permit,
): Promise<void> {
  const isOurs = await inTransaction(pool, async client => {
    await lockImport(client, importId)
    return removeCall(client, importId, claim, permit)
  })
  if (!isOurs) await persistLateOutcome(pool, importId, permit.callId, { kind: 'not sent' })
}

/**
 * Does the same in a transaction that has locked the import. False if the claim does not stand any more, or has no such
 * call: then nothing is removed.
 */
export async function removeCall(
  client: PoolClient,
  importId: bigint,
  claim: string,
  { callId }: Permit,
): Promise<boolean> {
  const { rowCount } = await client.query(
    'update ferry.import_batches set call_id = null where claim = $1 and call_id = $2',
    [claim, callId],
  )
  if (rowCount === 0) return false
  await releaseCall(client, importId, callId)
  return true
}

/** Gives up a claim with which nothing was sent, and its permit: the batch is as if it had never been claimed. */
export async function releaseUnsent({ pool, importId }: ClaimContext, claim: string): Promise<void> {
  await pool.query('select ferry_internal.release_claim($1, $2)', [importId, claim])
}
