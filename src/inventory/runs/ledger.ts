import type { Pool, PoolClient } from 'pg'
import { recordActs } from '#src/db/audit.ts'
import { and, desc, drizzleOf, eq, isNotNull, isNull, ne, sql } from '#src/db/drizzle.ts'
import type { Lease } from '#src/db/leases.ts'
import { inTransaction } from '#src/db/pool.ts'
import { onlyRow } from '#src/db/rows.ts'
import { platformCalls } from '#src/db/schema.ts'
import type { RemovalPolicy } from '#src/inventory/publish/decide.ts'
import { syncRuns } from '#src/inventory/schema.ts'
import type { Scope } from '#src/inventory/scope.ts'
import type { ActedBy } from '#src/model/act.ts'
import type { Inventory } from '#src/model/resource.ts'
import type { RunOutcome, RunStatus, Trigger } from '#src/model/run.ts'
import { failRunsBefore } from './lost-runs.ts'

/*
 * The ledger: one row of `sync_runs` a run, written when the run starts and when it ends.
 */

export type NewRun = Inventory & {
  readonly trigger: Trigger
  readonly slot: Date | null
  readonly scope: Scope
  readonly guard: string
  readonly fingerprintVersion: number
  /** Who asked for it; null for a run that a worker started. */
  readonly by: ActedBy | null
}

/** What every row that a run writes is marked with: the run, and the instant at which its changes take effect. */
export type RunStep = Inventory & { readonly runId: bigint; readonly at: string }

/** How a run ended, as the ledger records it. */
export type RunEnd = RunOutcome & {
  readonly status: Exclude<RunStatus, 'running' | 'skipped'>
  /** The instant its changes took effect, as Postgres writes it; null if nothing was applied. */
  readonly appliedAt: string | null
  readonly pages: number
  readonly fired: number
  readonly recovered: number
  /** Of the added rows, those that a first reading found. */
  readonly firstRead: number
  readonly dataHashes: readonly string[] | null
}

/** The end of a run that listed nothing and applied nothing. */
export const NOTHING_DONE: Omit<RunEnd, 'status'> = {
  appliedAt: null,
  requests: 0,
  pages: 0,
  seen: 0,
  added: 0,
  changed: 0,
  removed: 0,
  unchanged: 0,
  quarantined: 0,
  fired: 0,
  recovered: 0,
  firstRead: 0,
  dataHashes: null,
  errorCode: null,
  requestId: null,
  message: null,
}

/**
 * Records the start of a run under its lease and returns the run's id. Fails runs of the same inventory that another
 * holder of the lease left unfinished: their worker was lost.
 */
export function startRun(pool: Pool, run: NewRun, lease: Pick<Lease, 'token'>): Promise<bigint> {
  return inTransaction(pool, async client => {
    await failRunsBefore(client, run, lease.token)
    return insertRun(client, run, { status: 'running', lease_token: lease.token })
  })
}

/** Records that a run did not take place because another one holds the lease. Returns its id. */
export function recordSkipped(pool: Pool, run: NewRun, message: string): Promise<bigint> {
  const state = { status: 'skipped', message, finished_at: sql`clock_timestamp()` } as const
  return inTransaction(pool, client => insertRun(client, run, state))
}

/** With the record of who asked for it. */
async function insertRun(
  client: PoolClient,
  { fingerprintVersion, by, ...run }: NewRun,
  state: { status: RunStatus; lease_token?: string; message?: string; finished_at?: ReturnType<typeof sql> },
): Promise<bigint> {
  const rows = await drizzleOf(client)
    .insert(syncRuns)
    .values({ ...run, fingerprint_version: fingerprintVersion, ...state })
    .returning({ id: syncRuns.id })
  const { id } = onlyRow(rows, 'the insert of a run')
  const act = { account: run.account, action: 'sync', subjectKind: 'run', subject: `${id}` } as const
  if (by) await recordActs(client, by, [act])
  return id
}

/** Records the end of a run. Returns false if the run had ended already, because its worker was taken for lost. */
export async function finishRun(client: PoolClient | Pool, runId: bigint, end: RunEnd): Promise<boolean> {
  const { appliedAt, dataHashes, errorCode, requestId, firstRead, ...same } = end
  const { rowCount } = await drizzleOf(client)
    .update(syncRuns)
    .set({
      ...same,
      // As text: a JavaScript Date has no microseconds.
      applied_at: sql`${appliedAt}::timestamptz`,
      data_hashes: dataHashes && [...dataHashes],
      error_code: errorCode,
      request_id: requestId,
      first_read: firstRead,
      finished_at: sql`clock_timestamp()`,
    })
    .where(and(eq(syncRuns.id, runId), isNull(syncRuns.finished_at)))
  return rowCount === 1
}

/** Records that a run failed. `isFinished` is false if it had ended already, as `finishRun` says. */
export async function failRun(
  pool: Pool,
  { id, pages, requests: answered }: OpenRun,
  why: Pick<RunEnd, 'errorCode' | 'requestId' | 'message'>,
): Promise<{ readonly end: RunEnd; readonly isFinished: boolean }> {
  // The log also has the calls that were given up. Where no call is logged, only those that were answered are known.
  const logged = await drizzleOf(pool).$count(platformCalls, eq(platformCalls.run_id, id))
  const end = {
    ...NOTHING_DONE,
    status: 'failed',
    pages,
    requests: Math.max(answered, logged),
    ...why,
  } as const
  return { end, isFinished: await finishRun(pool, id, end) }
}

/** The last call of a run that was answered with a refusal. One that was cut short was answered too, but not with one. */
export async function findLastRefusal(pool: Pool, runId: bigint) {
  const { id, run_id, error_code, http_status, request_id } = platformCalls
  const [refusal] = await drizzleOf(pool)
    .select({ code: error_code, httpStatus: http_status, requestId: request_id })
    .from(platformCalls)
    .where(and(eq(run_id, runId), ne(error_code, 'NoAnswer'), isNotNull(http_status)))
    .orderBy(desc(id))
    .limit(1)
  return refusal
}

/** A run under way: what it is about, and what it has asked of the platform so far. */
export type OpenRun = {
  readonly id: bigint
  readonly account: string
  readonly lease: Lease
  readonly policy: RemovalPolicy
  requests: number
  pages: number
}
