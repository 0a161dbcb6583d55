import { randomUUID } from 'node:crypto'
import type { Pool } from 'pg'
import { inTransaction } from '../database.ts'
import type { Lease } from '../leases.ts'
import { patiently } from '../patience.ts'
import type { Limit } from '../throttle.ts'

/** Whose claims these are, and what they need to know of the platform. */
export type Claimer = {
  readonly pool: Pool
  readonly importId: bigint
  readonly lease: Pick<Lease, 'name' | 'token'>
  readonly limit: Limit
  readonly arrivalBoundMs: number
  /** After so long, a claim without an outcome counts as uncertain. */
  readonly claimMs: number
}

/** A batch in hand, with the slot of its call. */
export type Claim = {
  readonly batchId: bigint
  /** By it alone an outcome is recorded: nobody else's claim has the same. */
  readonly claim: string
  readonly callId: bigint
  /** `performance.now()` before the claim was first asked for. */
  readonly askedAtMs: number
}

export type Claimed =
  | ({ readonly what: 'claimed' } & Claim)
  | { readonly what: 'wait'; readonly waitMs: number; readonly sooner: boolean }
  | { readonly what: 'in flight'; readonly waitMs: number }
  | { readonly what: 'ended'; readonly status: string }
  | { readonly what: 'doubted' | 'lost' }

/**
 * Bytes of JSON in one request, about: a megabyte, since that is what nginx lets through unless told otherwise. A row of
 * the usual size has 100 bytes, so what bounds a batch is nearly always its number of rows.
 */
export const MOST_BYTES = 1_000_000

/**
 * Claims the next batch and takes a slot for it, both or neither; see `ferry.claim_batch`. While Postgres is away it is
 * asked again, for the same claim: one that was made though its answer was lost is the caller's.
 */
export function claimBatch(by: Claimer): Promise<Claimed> {
  const [claim, askedAtMs] = [randomUUID(), performance.now()]
  return patiently(() => askFor(by, claim, false, askedAtMs))
}

/** Takes another slot for a claim that gave back the one it had. */
export function claimAgain(by: Claimer, held: string): Promise<Claimed> {
  const askedAtMs = performance.now()
  return patiently(() => askFor(by, held, true, askedAtMs))
}

async function askFor(by: Claimer, claim: string, isAgain: boolean, askedAtMs: number): Promise<Claimed> {
  const { rows } = await by.pool.query<ClaimRow>(
    'select * from ferry.claim_batch($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)',
    [
      by.importId,
      by.lease.name,
      by.lease.token,
      claim,
      isAgain,
      by.limit.limitKey,
      by.limit.windows.map(window => window.most),
      by.limit.windows.map(window => window.windowMs),
      by.arrivalBoundMs,
      by.claimMs,
      MOST_BYTES,
    ],
  )
  const [row] = rows
  switch (row?.what) {
    case 'claimed':
      return {
        what: 'claimed',
        batchId: BigInt(row.batch_id ?? 0),
        claim,
        callId: BigInt(row.call_id ?? 0),
        askedAtMs,
      }
    case 'wait':
      return { what: 'wait', waitMs: row.wait_ms ?? 0, sooner: row.sooner }
    case 'in flight':
      return { what: 'in flight', waitMs: row.wait_ms ?? 0 }
    case 'ended':
      return { what: 'ended', status: row.status ?? '' }
    case 'doubted':
    case 'lost':
      return { what: row.what }
    default:
      throw new Error('ferry.claim_batch answered no row')
  }
}

type ClaimRow = {
  readonly what: Claimed['what']
  readonly status: string | null
  readonly wait_ms: number | null
  readonly sooner: boolean
  readonly batch_id: string | null
  readonly call_id: string | null
}

/** Gives back the slot of a claim: nothing was sent with it. The claim stays, without a call. */
export async function giveSlotBack(
  { pool, importId }: Pick<Claimer, 'pool' | 'importId'>,
  { claim, callId }: Pick<Claim, 'claim' | 'callId'>,
): Promise<void> {
  await inTransaction(pool, async client => {
    await client.query('select from ferry.imports where id = $1 for update', [importId])
    await client.query('update ferry.import_batches set call_id = null where claim = $1 and call_id = $2', [
      claim,
      callId,
    ])
    await client.query('select ferry.release_call($1, $2)', [importId, callId])
  })
}

/** Gives up a claim with which nothing was sent, and its slot: the batch is as if it had never been claimed. */
export async function giveClaimBack(
  { pool, importId }: Pick<Claimer, 'pool' | 'importId'>,
  claim: string,
): Promise<void> {
  await pool.query('select ferry.release_claim($1, $2)', [importId, claim])
}

export type BatchRow = {
  readonly line: bigint
  readonly recipient: string
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
}

/**
 * The rows of a batch that are to be sent: those set aside are left out. Looked up by their range (OFFSET keeps the
 * planner from joining them, for which it would read every row of the import).
 */
export async function loadRows(pool: Pool, batchId: bigint): Promise<BatchRow[]> {
  const { rows } = await pool.query<Omit<BatchRow, 'line'> & { line: string }>(
    `select r.line, r.recipient, r."all", coalesce(r.component_ids, '{}') as "componentIds", r.locale
     from ferry.import_batches b
     cross join lateral (
       select * from ferry.import_recipients r
       where r.import_id = b.import_id and r.line between b.from_line and b.to_line offset 0) r
     where b.id = $1 and r.line <> all (b.set_aside) order by r.line`,
    [batchId],
  )
  return rows.map(row => ({ ...row, line: BigInt(row.line) }))
}
