import type { Pool, PoolClient } from 'pg'
import type { Resource } from '#src/model/resource.ts'
import type { RunCounts, RunStatus, Trigger } from '#src/model/run.ts'
import type { Lease } from './leases.ts'

/** What a run is allowed to see and to conclude; two runs with equal scopes may be compared. */
export type Scope = {
  /** The folders asked for, as text; null where the resource has none. */
  readonly folders: readonly string[] | null
  readonly includeAccount: boolean | null
  readonly keyHash: string
}

export type NewRun = {
  readonly account: string
  readonly resource: Resource
  readonly trigger: Trigger
  readonly slot: Date | null
  readonly scope: Scope
  readonly guard: string
  readonly fingerprintVersion: number
}

export function leaseNameOf(account: string, resource: Resource): string {
  return `sync:${account}:${resource}`
}

/**
 * Opens a run under its lease and returns its id. A run of the same inventory that another holder of the lease left
 * unfinished is marked failed: its worker was lost.
 */
export async function startRun(pool: Pool, run: NewRun, lease: Lease): Promise<bigint> {
  await pool.query(
    `${MARK_WORKER_LOST} and account = $1 and resource = $2 and lease_token is distinct from $3`,
    [run.account, run.resource, lease.token],
  )
  return insertRun(pool, run, 'running', lease.token, null)
}

/** Records that a run did not take place because another holds the lease. */
export async function recordSkipped(pool: Pool, run: NewRun, message: string): Promise<bigint> {
  return insertRun(pool, run, 'skipped', null, message)
}

async function insertRun(
  pool: Pool,
  run: NewRun,
  status: RunStatus,
  token: string | null,
  message: string | null,
): Promise<bigint> {
  const { rows } = await pool.query<{ id: string }>(
    `insert into ferry.sync_runs
       (account, resource, trigger, slot, scope, guard, fingerprint_version, status, lease_token, message, finished_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, case when $8 <> 'running' then clock_timestamp() end)
     returning id`,
    [
      run.account,
      run.resource,
      run.trigger,
      run.slot,
      JSON.stringify(run.scope),
      run.guard,
      run.fingerprintVersion,
      status,
      token,
      message,
    ],
  )
  const [row] = rows
  if (!row) throw new Error('the run was not recorded')
  return BigInt(row.id)
}

const MARK_WORKER_LOST = `
  update ferry.sync_runs set status = 'failed', finished_at = clock_timestamp(), error_code = 'WorkerLost',
    message = 'worker lost: it died or was suspended past its lease; nothing of this run was applied'
  where finished_at is null`

/**
 * A worker that stood still for a while renews its lease as soon as it goes on, if nobody has taken it over. Its run is
 * called lost when it had the time to do so; whoever takes the lease over calls it lost at once (`startRun`).
 */
const GRACE = "interval '30 s'"

/**
 * Marks every unfinished run whose lease has run out; returns what they were about. A lease that is locked is in use: its
 * run is being applied, for longer than the lease lives. (`for key share` meets nothing but that lock, so looking here
 * keeps nobody from taking or renewing a lease.)
 */
export async function failWorkerLostRuns(
  pool: Pool,
): Promise<{ id: string; account: string; resource: Resource }[]> {
  const { rows } = await pool.query<{ id: string; account: string; resource: Resource }>(
    `with dead as (
       select name, token from ferry.leases where expires_at <= clock_timestamp() - ${GRACE} for key share skip locked
     )
     ${MARK_WORKER_LOST} and (
       not exists (select from ferry.leases l
                   where l.name = 'sync:' || account || ':' || resource and l.token = lease_token)
       or exists (select from dead d where d.name = 'sync:' || account || ':' || resource and d.token = lease_token))
     returning id, account, resource`,
  )
  return rows
}

/**
 * The instant at which this run's changes take effect: the database's clock, and later than that of every run before
 * it and every snapshot, even if that clock was set back: what a snapshot shows never changes. Kept as text, since a
 * JavaScript Date has no microseconds.
 */
export async function chooseInstant(
  client: PoolClient,
  account: string,
  resource: Resource,
): Promise<string> {
  const { rows } = await client.query<{ at: string }>(
    `select greatest(clock_timestamp(), interval '1 microsecond' + greatest(
       (select applied_at from ferry.sync_runs
        where account = $1 and resource = $2 and applied_at is not null order by id desc limit 1),
       (select max(taken_at) from ferry.snapshots where account = $1)))::text as at`,
    [account, resource],
  )
  const [row] = rows
  if (!row) throw new Error('the database gave no time')
  return row.at
}

export type RunEnd = RunCounts & {
  readonly status: Exclude<RunStatus, 'running' | 'skipped'>
  readonly appliedAt: string | null
  readonly requests: number
  readonly pages: number
  readonly fired: number
  readonly recovered: number
  readonly dataHashes: readonly string[] | null
  readonly errorCode: string | null
  readonly requestId: string | null
  readonly message: string | null
}

/** Closes a run; false if it was closed already (its worker was taken for lost). */
export async function finishRun(client: PoolClient | Pool, runId: bigint, end: RunEnd): Promise<boolean> {
  const { rowCount } = await client.query(
    `update ferry.sync_runs set status = $2, applied_at = $3, finished_at = clock_timestamp(), requests = $4,
       pages = $5, seen = $6, added = $7, changed = $8, removed = $9, unchanged = $10, quarantined = $11, fired = $12,
       recovered = $13, data_hashes = $14, error_code = $15, request_id = $16, message = $17
     where id = $1 and finished_at is null`,
    [
      runId,
      end.status,
      end.appliedAt,
      end.requests,
      end.pages,
      end.seen,
      end.added,
      end.changed,
      end.removed,
      end.unchanged,
      end.quarantined,
      end.fired,
      end.recovered,
      end.dataHashes,
      end.errorCode,
      end.requestId,
      end.message,
    ],
  )
  return rowCount === 1
}

/** How many requests the call log has of a run: what is known of one that was stopped in the middle. */
export async function countRequests(pool: Pool, runId: bigint): Promise<number> {
  const { rows } = await pool.query<{ requests: number }>(
    'select count(*)::int as requests from ferry.platform_calls where run_id = $1',
    [runId],
  )
  return rows[0]?.requests ?? 0
}

/** What a run ends with that found nothing and changed nothing. */
export const NO_COUNTS: Omit<RunEnd, 'status'> = {
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
  dataHashes: null,
  errorCode: null,
  requestId: null,
  message: null,
}

/** What the last applied run found: by its hashes the same data is known again. */
export type TrustedData = {
  /** None, if this run may not rely on them. */
  readonly hashes: readonly string[]
  readonly seen: number
  readonly quarantined: number
  readonly message: string | null
}

export async function loadTrustedData(pool: Pool, run: NewRun): Promise<TrustedData> {
  const { rows } = await pool.query<Omit<TrustedData, 'hashes'> & { hashes: string[] | null }>(
    `select seen, quarantined, message,
       case when status = 'succeeded' and scope = $3 and guard = $4 and fingerprint_version = $5
         then data_hashes end as hashes
     from ferry.sync_runs where account = $1 and resource = $2 and applied_at is not null order by id desc limit 1`,
    [run.account, run.resource, JSON.stringify(run.scope), run.guard, run.fingerprintVersion],
  )
  const [last = { hashes: null, seen: 0, quarantined: 0, message: null }] = rows
  return { ...last, hashes: last.hashes ?? [] }
}

/** Whether a complete listing was ever applied in this scope. */
export async function scopeIsKnown(
  pool: Pool,
  run: Pick<NewRun, 'account' | 'resource' | 'scope'>,
): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from ferry.sync_runs
     where account = $1 and resource = $2 and status in ('succeeded', 'held') and scope = $3 limit 1`,
    [run.account, run.resource, JSON.stringify(run.scope)],
  )
  return rowCount === 1
}
