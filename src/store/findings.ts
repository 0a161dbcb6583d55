import type { PoolClient } from 'pg'
import { fingerprint } from '#src/model/fingerprint.ts'
import type { Drift, Quarantined } from '#src/model/listing.ts'
import type { Resource } from '#src/model/resource.ts'
import type { Scope } from './runs.ts'

/** Enough to see what is wrong with rows that cannot be read, and why. */
export const MOST_STORED = 500

/**
 * Keeps the rows that a run set aside, as far as they are new or changed: of rows that were met before it is enough to
 * know that they still are. Returns how many of these rows are stored, by this run or by one before it.
 *
 * Never more than `MOST_STORED` of one scope hold at a time. A platform that changes the type of a field spoils every
 * row at once; the first ones tell what is wrong, the others are counted.
 */
export async function saveQuarantined(
  client: PoolClient,
  run: { account: string; resource: Resource; scope: Scope; runId: bigint },
  quarantined: readonly Quarantined[],
): Promise<number> {
  const { rows: holding } = await client.query<{ run_id: string; position: number; fingerprint: string }>(
    `select q.run_id, q.position, q.fingerprint
     from ferry.quarantined_rows q join ferry.sync_runs r on r.id = q.run_id
     where q.until_run is null and q.fingerprint is not null
       and r.account = $1 and r.resource = $2 and r.scope = $3`,
    [run.account, run.resource, JSON.stringify(run.scope)],
  )
  const known = new Set(holding.map(row => row.fingerprint))
  const met = fingerprintsOf(quarantined)
  const ended = holding.filter(row => !met.has(row.fingerprint))
  const room = MOST_STORED - (holding.length - ended.length)
  const added = [...met].filter(([fingerprint]) => !known.has(fingerprint)).slice(0, Math.max(0, room))
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
  return holding.length - ended.length + added.length
}

/** Each row by a hash of what it is, wherever it stands; the second of two equal rows is another one than the first. */
function fingerprintsOf(quarantined: readonly Quarantined[]): ReadonlyMap<string, Quarantined> {
  const met = new Map<string, Quarantined>()
  const times = new Map<string, number>()
  for (const row of quarantined) {
    const first = fingerprint(JSON.stringify([row.id, row.reason, row.raw]))
    const time = times.get(first) ?? 0
    times.set(first, time + 1)
    met.set(time === 0 ? first : fingerprint(`${first} ${time}`), row)
  }
  return met
}

/** Records fields outside the contract, names and types only; returns those seen for the first time. */
export async function saveDrift(
  client: PoolClient,
  run: { account: string; resource: Resource; runId: bigint },
  drift: readonly Drift[],
): Promise<readonly Drift[]> {
  if (drift.length === 0) return []
  const { rows } = await client.query<Drift>(
    `insert into ferry.contract_drift (account, resource, field, type, first_run)
     select $1, $2, field, type, $3 from unnest($4::text[], $5::text[]) as d (field, type)
     on conflict do nothing returning field, type`,
    [run.account, run.resource, run.runId, drift.map(found => found.field), drift.map(found => found.type)],
  )
  return rows
}

/**
 * Records which accounts of the platform an account of Ferry sees; returns the other Ferry accounts that see one of
 * the newly found ones too. Such accounts share the platform's limits.
 */
export async function savePlatformAccounts(
  client: PoolClient,
  run: { account: string; runId: bigint },
  accountIds: readonly bigint[],
): Promise<readonly string[]> {
  if (accountIds.length === 0) return []
  const { rows } = await client.query<{ account: string }>(
    `with found as (
       insert into ferry.platform_accounts (account, account_id, first_run)
       select $1, id, $2 from unnest($3::numeric[]) as id
       on conflict do nothing returning account_id
     )
     select distinct p.account from ferry.platform_accounts p join found using (account_id) where p.account <> $1`,
    [run.account, run.runId, accountIds.map(String)],
  )
  return rows.map(row => row.account)
}
