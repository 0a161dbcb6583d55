import type { Pool } from 'pg'
import { and, asc, desc, drizzleOf, eq, gte, isNotNull, lt } from '#src/db/drizzle.ts'
import { isHeldInSql } from '#src/db/lease-rows.ts'
import { findOne } from '#src/db/rows.ts'
import { platformCalls } from '#src/db/schema.ts'
import { type Hold, loadHeldIds, loadOpenHold } from '#src/inventory/holds/holds.ts'
import {
  loadQuarantined,
  loadQuarantineReasons,
  type QuarantinedRow,
  type QuarantineReason,
} from '#src/inventory/read/quarantine.ts'
import { contractDrift, syncRuns as runs, seenValues } from '#src/inventory/schema.ts'
import { coversFolders } from '#src/inventory/scope.ts'
import type { Inventory, Resource } from '#src/model/resource.ts'
import type { RunStatus } from '#src/model/run.ts'
import { leaseNameOf } from './lost-runs.ts'
import { RunStanding } from './next-steps.ts'

/** A run of the ledger under the names that programs are shown. */
const RUN = {
  run: runs.id,
  account: runs.account,
  resource: runs.resource,
  trigger: runs.trigger,
  slot: runs.slot,
  scope: runs.scope,
  status: runs.status,
  requests: runs.requests,
  pages: runs.pages,
  seen: runs.seen,
  added: runs.added,
  changed: runs.changed,
  removed: runs.removed,
  unchanged: runs.unchanged,
  quarantined: runs.quarantined,
  fired: runs.fired,
  recovered: runs.recovered,
  message: runs.message,
  startedAt: runs.started_at,
  finishedAt: runs.finished_at,
  errorCode: runs.error_code,
  requestId: runs.request_id,
}

/** The same as the role that only reads may see it: a scope holds a hash of the key. */
const { scope, ...READABLE_RUN } = RUN

export type RunRow = Awaited<ReturnType<typeof listRuns>>[number]
export type ReadableRun = Awaited<ReturnType<typeof listReadableRuns>>[number]

/** Which runs are wanted; what is left out does not narrow them. */
export type RunFilter = {
  readonly account?: string | undefined
  readonly resource?: Resource | undefined
  readonly status?: RunStatus | undefined
  readonly since?: Date | undefined
  readonly until?: Date | undefined
  /** Only runs with a lower number: those that come after it in the list. */
  readonly before?: bigint | undefined
}

/** The newest runs first. */
export function listRuns(pool: Pool, limit: number, filter: RunFilter = {}) {
  return drizzleOf(pool).select(RUN).from(runs).where(matches(filter)).orderBy(desc(runs.id)).limit(limit)
}

/** The newest runs first, for the role that only reads. */
export function listReadableRuns(pool: Pool, limit: number, filter: RunFilter = {}) {
  return drizzleOf(pool)
    .select(READABLE_RUN)
    .from(runs)
    .where(matches(filter))
    .orderBy(desc(runs.id))
    .limit(limit)
}

function matches({ account, resource, status, since, until, before }: RunFilter) {
  return and(
    account === undefined ? undefined : eq(runs.account, account),
    resource === undefined ? undefined : eq(runs.resource, resource),
    status === undefined ? undefined : eq(runs.status, status),
    since === undefined ? undefined : gte(runs.started_at, since),
    until === undefined ? undefined : lt(runs.started_at, until),
    before === undefined ? undefined : lt(runs.id, before),
  )
}

/** A call to the platform that a run made. */
const CALL = {
  operation: platformCalls.operation,
  started: platformCalls.started,
  finished: platformCalls.finished,
  httpStatus: platformCalls.http_status,
  errorCode: platformCalls.error_code,
  requestId: platformCalls.request_id,
}

export type CallRow = Awaited<ReturnType<typeof listCalls>>[number]

/** The calls of a run in their order. */
export function listCalls(pool: Pool, runId: bigint) {
  return drizzleOf(pool)
    .select(CALL)
    .from(platformCalls)
    .where(eq(platformCalls.run_id, runId))
    .orderBy(asc(platformCalls.id))
}

export type RunDetails = {
  readonly run: RunRow
  readonly quarantined: readonly QuarantinedRow[]
  readonly drift: readonly DriftField[]
  readonly newValues: readonly NewValue[]
  /** The hold that the run made or updated, as it is now, while it is open. */
  readonly hold: Hold | null
  readonly calls: readonly CallRow[]
  readonly standing: RunStanding
}

/** Returns a run that was applied; null for any other. */
export async function findAppliedRun(pool: Pool, id: bigint) {
  const isApplied = isNotNull(runs.applied_at)
  const [run] = await drizzleOf(pool)
    .select(RUN)
    .from(runs)
    .where(and(eq(runs.id, id), isApplied))
  return run === undefined || run.status === 'running' ? null : { ...run, status: run.status }
}

/** Everything known of one run; null if no run has this id. */
export async function loadRun(pool: Pool, id: bigint): Promise<RunDetails | null> {
  const [run] = await drizzleOf(pool).select(RUN).from(runs).where(eq(runs.id, id))
  if (!run) return null
  const [quarantined, drift, newValues, hold, calls, standing] = await Promise.all([
    loadQuarantined(pool, id),
    listDrift(pool, id),
    listNewValues(pool, id),
    loadOpenHold(pool, id),
    listCalls(pool, id),
    loadStanding(pool, run),
  ])
  return { run, quarantined, drift, newValues, hold, calls, standing }
}

export type ReadableDetails = {
  readonly run: ReadableRun
  readonly quarantined: readonly QuarantineReason[]
  readonly drift: readonly DriftField[]
  readonly newValues: readonly NewValue[]
  readonly heldIds: readonly string[]
  readonly standing: RunStanding
}

/** One run as the role that only reads may see it, without its calls; null if no run has this id. */
export async function loadReadableRun(pool: Pool, id: bigint): Promise<ReadableDetails | null> {
  const [run] = await drizzleOf(pool).select(READABLE_RUN).from(runs).where(eq(runs.id, id))
  if (!run) return null
  const [quarantined, drift, newValues, heldIds, standing] = await Promise.all([
    run.quarantined === 0 ? [] : loadQuarantineReasons(pool, id),
    listDrift(pool, id),
    listNewValues(pool, id),
    run.status === 'held' ? loadHeldIds(pool, id) : [],
    loadStanding(pool, run),
  ])
  return { run, quarantined, drift, newValues, heldIds, standing }
}

/** A later run makes up for one that failed or was partial, if it listed the folders of that one at least. */
function loadStanding(
  pool: Pool,
  { account, resource, run, status }: Inventory & { readonly run: bigint; readonly status: RunStatus },
): Promise<RunStanding> {
  return findOne(
    pool,
    RunStanding,
    `select nullif(r.folders, 'null') as folders,
       case when $4 in ('failed', 'partial') then (
         select c.id from ferry_internal.complete_runs c
         where c.id > r.id and ${coversFolders('c.folders', 'r.folders')} and c.account = $2 and c.inventory = $3
         order by c.id limit 1) end as complete_since,
       $4 = 'running' and ${isHeldInSql('$5')} as is_under_way
     from ferry_internal.run_folders r where r.id = $1`,
    [run, account, resource, status, leaseNameOf({ account, resource })],
  )
}

export type DriftField = Awaited<ReturnType<typeof listDrift>>[number]

/** The fields outside of the contract that this run was the first to see. */
function listDrift(pool: Pool, id: bigint) {
  const { field, type, first_run } = contractDrift
  return drizzleOf(pool)
    .select({ field, type })
    .from(contractDrift)
    .where(eq(first_run, id))
    .orderBy(asc(field), asc(type))
}

export type NewValue = Awaited<ReturnType<typeof listNewValues>>[number]

/** The values of open sets that this run was the first to see, but for those of a first reading. */
function listNewValues(pool: Pool, id: bigint) {
  const { field, value, first_run, is_news } = seenValues
  return drizzleOf(pool)
    .select({ field, value })
    .from(seenValues)
    .where(and(eq(first_run, id), is_news))
    .orderBy(asc(field), asc(value))
}
