import type { Pool, PoolClient } from 'pg'
import { and, drizzleOf, eq, isNotNull, isNull, sql } from '#src/db/drizzle.ts'
import { fingerprint } from '#src/model/fingerprint.ts'
import type { Quarantined } from '#src/model/listing.ts'
import type { Inventory } from '#src/model/resource.ts'
import { quarantinedRows, syncRuns } from './schema.ts'
import { hadScope, ofInventory, type Scope } from './scope.ts'

/** How many quarantined rows of one scope are stored at a time: enough to see which they are, and why. */
export const MAX_STORED_ROWS = 500

/**
 * Stores the quarantined rows of a run that are new or changed, and ends the stored ones that the listing lacks.
 * A row that is stored already stays as it is. Returns how many of `quarantined` are stored, by this run or an earlier one.
 *
 * At most `MAX_STORED_ROWS` of one scope are stored at a time: if the platform changes the type of a field, every row is
 * quarantined at once. The first rows show what is wrong; the others are only counted.
 */
export async function saveQuarantined(
  client: PoolClient,
  run: Inventory & { readonly scope: Scope; readonly runId: bigint },
  quarantined: readonly Quarantined[],
): Promise<number> {
  const stored = await loadStored(client, run)
  const known = new Set(stored.map(row => row.fingerprint))
  const current = byFingerprint(quarantined)
  const ended = stored.filter(row => !current.has(row.fingerprint))
  const free = MAX_STORED_ROWS - (stored.length - ended.length)
  const added = [...current].filter(([fingerprint]) => !known.has(fingerprint)).slice(0, Math.max(0, free))
  if (ended.length > 0) {
    await client.query(
      `update ferry.quarantined_rows q set until_run = $1
       from unnest($2::bigint[], $3::int[]) as e (run_id, position)
       where q.run_id = e.run_id and q.position = e.position`,
      [run.runId, ended.map(row => row.run_id), ended.map(row => row.position)],
    )
  }
  if (added.length > 0) {
    await client.query(
      `insert into ferry.quarantined_rows (run_id, position, id, reason, raw, fingerprint)
       select $1, position, id, reason, raw::jsonb, fingerprint
       from unnest($2::int[], $3::text[], $4::text[], $5::text[], $6::uuid[]) as q (position, id, reason, raw, fingerprint)`,
      [
        run.runId,
        added.map(([, row]) => row.position),
        added.map(([, row]) => row.id),
        added.map(([, row]) => row.reason),
        added.map(([, row]) => row.raw),
        added.map(([fingerprint]) => fingerprint),
      ],
    )
  }
  return stored.length - ended.length + added.length
}

/** The stored rows of a scope that came in the last listing too. */
function loadStored(client: PoolClient, run: Inventory & { readonly scope: Scope }) {
  const { run_id, position, fingerprint } = quarantinedRows
  return drizzleOf(client)
    .select({ run_id, position, fingerprint: sql<string>`${fingerprint}` })
    .from(quarantinedRows)
    .innerJoin(syncRuns, eq(syncRuns.id, run_id))
    .where(
      and(
        isNull(quarantinedRows.until_run),
        isNotNull(fingerprint),
        ofInventory(syncRuns, run),
        hadScope(run.scope),
      ),
    )
}

/** Each row by a hash of its content, whatever its position. Of two equal rows, the second has another hash. */
function byFingerprint(quarantined: readonly Quarantined[]): ReadonlyMap<string, Quarantined> {
  const rows = new Map<string, Quarantined>()
  const times = new Map<string, number>()
  for (const row of quarantined) {
    const first = fingerprint(JSON.stringify([row.id, row.reason, row.raw]))
    const time = times.get(first) ?? 0
    times.set(first, time + 1)
    rows.set(time === 0 ? first : fingerprint(`${first} ${time}`), row)
  }
  return rows
}

export type QuarantinedRow = {
  readonly position: number
  readonly id: string | null
  readonly reason: string
  readonly raw: unknown
}

/**
 * The stored rows that a run quarantined: those it stored, and those that an earlier run of the same scope stored and that
 * had not ended. A row without a fingerprint counts for its own run only.
 */
export async function loadQuarantined(pool: Pool, runId: bigint): Promise<QuarantinedRow[]> {
  const { rows } = await pool.query<QuarantinedRow>(
    `select q.position, q.id, q.reason, q.raw from ferry.quarantined_rows q where q.run_id = $1
     union all
     select q.position, q.id, q.reason, q.raw
     from ferry.quarantined_rows q
     join ferry.sync_runs first on first.id = q.run_id
     join ferry.sync_runs run using (account, resource, scope)
     where run.id = $1 and run.applied_at is not null
       and q.fingerprint is not null and q.run_id < $1 and (q.until_run is null or q.until_run > $1)
     order by position`,
    [runId],
  )
  return rows
}
