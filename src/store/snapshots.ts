import type { Pool } from 'pg'

export type SnapshotStatus = 'succeeded' | 'partial' | 'held'

/** A named instant: what the inventories were then is asked of the versions, nothing is copied. */
export type Snapshot = {
  readonly id: string
  readonly account: string
  readonly slot: Date | null
  readonly taken_at: Date
  readonly status: SnapshotStatus
  readonly alert_rules_run: string
  readonly mcp_servers_run: string
}

/** Names this instant; a slot that has a snapshot keeps the one it has. Returns null then. */
export async function saveSnapshot(
  pool: Pool,
  snapshot: {
    account: string
    slot: Date | null
    status: SnapshotStatus
    alertRulesRun: bigint
    mcpServersRun: bigint
  },
): Promise<{ id: bigint; takenAt: Date } | null> {
  // Later than the instants of its runs, which may be ahead of a clock that was set back.
  const { rows } = await pool.query<{ id: string; taken_at: Date }>(
    `insert into ferry.snapshots (account, slot, taken_at, status, alert_rules_run, mcp_servers_run)
     select $1, $2, greatest(clock_timestamp(), max(applied_at)), $3, $4, $5
     from ferry.sync_runs where id in ($4, $5)
     on conflict (account, slot) do nothing returning id, taken_at`,
    [snapshot.account, snapshot.slot, snapshot.status, snapshot.alertRulesRun, snapshot.mcpServersRun],
  )
  const [row] = rows
  return row ? { id: BigInt(row.id), takenAt: row.taken_at } : null
}

/** The newest snapshots first. */
export async function listSnapshots(pool: Pool, limit: number): Promise<Snapshot[]> {
  const { rows } = await pool.query<Snapshot>('select * from ferry.snapshots order by id desc limit $1', [
    limit,
  ])
  return rows
}

export type SnapshotDifference = {
  readonly resource: 'alert-rules' | 'mcp-servers'
  readonly change: 'added' | 'changed' | 'removed'
  readonly id: string
  readonly name: string | null
  /** Of a change, the names of the fields that differ. */
  readonly fields: readonly string[]
}

/** No snapshot has this id, or the two belong to different accounts. */
export class NoSuchSnapshot extends Error {
  override readonly name = 'NoSuchSnapshot'
}

/** What was added, changed and removed between two snapshots of one account, whichever is older. */
export async function diffSnapshots(pool: Pool, a: bigint, b: bigint): Promise<SnapshotDifference[]> {
  const found = await pool.query<{ id: string; account: string }>(
    'select id, account from ferry.snapshots where id in ($1, $2)',
    [a, b],
  )
  for (const id of [a, b]) {
    if (!found.rows.some(row => row.id === `${id}`)) {
      throw new NoSuchSnapshot(`there is no snapshot ${id}; \`ferry snapshots list\` shows them`)
    }
  }
  if (new Set(found.rows.map(row => row.account)).size > 1) {
    throw new NoSuchSnapshot(
      `the snapshots ${a} and ${b} belong to different accounts, so they have nothing in common`,
    )
  }
  const { rows } = await pool.query<SnapshotDifference>(
    `${differencesOf('alert-rules', 'ferry.alert_rules_as_of', 'id', 'name', '{triggered}')}
     union all
     ${differencesOf('mcp-servers', 'ferry.mcp_servers_as_of', 'server_id', 'server_name', '{}')}
     order by 1, 2, 4, 3`,
    [a, b],
  )
  return rows
}

/** Compares two instants of one inventory; the words spliced in are this file's own. */
function differencesOf(resource: string, asOf: string, id: string, name: string, state: string): string {
  const document = (row: string) =>
    `to_jsonb(${row}) - '{valid_from,valid_to,opened_by_run,closed_by_run,fingerprint,flags,altered}'::text[] - '${state}'::text[]`
  const side = (n: number) =>
    `(select v.* from ferry.snapshots s, ${asOf}(s.taken_at) v where s.id = $${n} and v.account = s.account)`
  return `
    select '${resource}' as resource,
      case when a.${id} is null then 'added' when b.${id} is null then 'removed' else 'changed' end as change,
      coalesce(a.${id}, b.${id})::text as id, coalesce(b.${name}, a.${name}) as name,
      case when a.${id} is null or b.${id} is null then '{}'::text[] else array(
        select n.key from jsonb_each(${document('b')}) n
        where n.value is distinct from (${document('a')}) -> n.key order by 1) end as fields
    from ${side(1)} a full join ${side(2)} b on b.${id} = a.${id}
    where a.fingerprint is distinct from b.fingerprint`
}
