import type { Pool } from 'pg'
import { loadRejectedIds } from './holds.ts'

/** A row of the ledger as people and programs read it. */
export type RunRow = {
  readonly id: string
  readonly account: string
  readonly resource: string
  readonly trigger: string
  readonly slot: Date | null
  readonly scope: unknown
  readonly status: string
  readonly started_at: Date
  readonly finished_at: Date | null
  readonly requests: number
  readonly pages: number
  readonly seen: number
  readonly added: number
  readonly changed: number
  readonly removed: number
  readonly unchanged: number
  readonly quarantined: number
  readonly fired: number
  readonly recovered: number
  readonly error_code: string | null
  readonly request_id: string | null
  readonly message: string | null
}

const COLUMNS = `id, account, resource, trigger, slot, scope, status, started_at, finished_at, requests, pages, seen,
  added, changed, removed, unchanged, quarantined, fired, recovered, error_code, request_id, message`

/** Which runs are wanted; what is left out does not narrow them. */
export type RunFilter = {
  readonly account?: string | undefined
  readonly resource?: string | undefined
  readonly status?: string | undefined
  readonly since?: Date | undefined
}

/** The newest runs first. */
export async function listRuns(pool: Pool, limit: number, filter: RunFilter = {}): Promise<RunRow[]> {
  const { account, resource, status, since } = filter
  const { rows } = await pool.query<RunRow>(
    `select ${COLUMNS} from ferry.sync_runs
     where ($2::text is null or account = $2) and ($3::text is null or resource = $3)
       and ($4::text is null or status = $4) and ($5::timestamptz is null or started_at >= $5)
     order by id desc limit $1`,
    [limit, account ?? null, resource ?? null, status ?? null, since ?? null],
  )
  return rows
}

/** A row whose removal is held, as it is now. */
export type HeldRow = {
  readonly id: string
  readonly name: string | null
  readonly folder: string | null
  readonly by: string | null
  /** The run that held it before, if a person rejected that removal and the row has not been listed since. */
  readonly rejectedInRun: string | null
}

/** The rows with these ids, by name. */
export async function loadHeldRows(
  pool: Pool,
  { account, resource }: Pick<RunRow, 'account' | 'resource'>,
  ids: readonly string[],
): Promise<HeldRow[]> {
  const rejected = await loadRejectedIds(pool, { account, resource })
  const { rows } = await pool.query<Omit<HeldRow, 'rejectedInRun'>>(
    resource === 'alert-rules'
      ? `select id::text, name, folder_id::text as folder, updater_name as by from ferry.alert_rule_versions
         where account = $1 and valid_to is null and id = any ($2::numeric[]) order by name, id`
      : `select server_id as id, server_name as name, null as folder, null as by from ferry.mcp_server_versions
         where account = $1 and valid_to is null and server_id = any ($2::text[]) order by server_name, server_id`,
    [account, ids],
  )
  return rows.map(row => ({ ...row, rejectedInRun: rejected.get(row.id) ?? null }))
}

export type RunDetails = {
  readonly run: RunRow
  readonly quarantined: readonly { position: number; id: string | null; reason: string; raw: unknown }[]
  readonly drift: readonly { field: string; type: string }[]
  /** The removals it holds, while the hold is open. */
  readonly heldIds: readonly string[]
  readonly calls: readonly CallRow[]
}

export type CallRow = {
  readonly operation: string
  readonly started: Date
  readonly finished: Date | null
  readonly http_status: number | null
  readonly error_code: string | null
  readonly request_id: string | null
}

/**
 * The rows that run $1 set aside, as far as they are stored: those it met first, and those of runs before it in the same
 * scope that held until after it. A row without a fingerprint holds for its own run alone.
 */
const QUARANTINED_IN_RUN = `
  select q.position, q.id, q.reason, q.raw from ferry.quarantined_rows q where q.run_id = $1
  union all
  select q.position, q.id, q.reason, q.raw
  from ferry.quarantined_rows q
  join ferry.sync_runs first on first.id = q.run_id
  join ferry.sync_runs run using (account, resource, scope)
  where run.id = $1 and run.applied_at is not null
    and q.fingerprint is not null and q.run_id < $1 and (q.until_run is null or q.until_run > $1)
  order by position`

/** Everything known of one run, or null if there is none of that id. */
export async function loadRun(pool: Pool, id: bigint): Promise<RunDetails | null> {
  const { rows } = await pool.query<RunRow>(`select ${COLUMNS} from ferry.sync_runs where id = $1`, [id])
  const [run] = rows
  if (!run) return null
  const [quarantined, drift, hold, calls] = await Promise.all([
    pool.query<RunDetails['quarantined'][number]>(QUARANTINED_IN_RUN, [id]),
    pool.query<RunDetails['drift'][number]>(
      'select field, type from ferry.contract_drift where first_run = $1 order by field, type',
      [id],
    ),
    pool.query<{ ids: string[] }>(
      'select ids from ferry.removal_holds where $1 between opened_by_run and last_run and ended_at is null and account = $2 and resource = $3',
      [id, run.account, run.resource],
    ),
    pool.query<CallRow>(
      `select operation, started, finished, http_status, error_code, request_id from ferry.platform_calls
       where run_id = $1 order by id`,
      [id],
    ),
  ])
  return {
    run,
    quarantined: quarantined.rows,
    drift: drift.rows,
    heldIds: hold.rows[0]?.ids ?? [],
    calls: calls.rows,
  }
}
