import type { Pool, PoolClient } from 'pg'
import type { Drift, Quarantined } from '#src/model/listing.ts'
import type { Resource } from '#src/model/resource.ts'

/** Keeps the rows that a run set aside. */
export async function saveQuarantined(
  client: PoolClient | Pool,
  runId: bigint,
  quarantined: readonly Quarantined[],
): Promise<void> {
  if (quarantined.length === 0) return
  await client.query(
    `insert into ferry.quarantined_rows (run_id, position, id, reason, raw)
     select $1, position, id, reason, raw::jsonb
     from unnest($2::int[], $3::text[], $4::text[], $5::text[]) as q (position, id, reason, raw)`,
    [
      runId,
      quarantined.map(row => row.position),
      quarantined.map(row => row.id),
      quarantined.map(row => row.reason),
      quarantined.map(row => row.raw),
    ],
  )
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
