import type { Pool } from 'pg'
import { keyInstant } from './key-instant.ts'
import type { SnapshotStatus } from './states.ts'

export type PagedSnapshot = {
  readonly id: string
  readonly account: string
  /** The night of the schedule; null: it was taken by hand. */
  readonly slot: Date | null
  readonly takenAt: Date
  readonly status: SnapshotStatus
  readonly alertRulesRun: string
  readonly mcpServersRun: string
  /** The snapshot before it of the same account; null if it is the first that is kept. */
  readonly previous: string | null
}

/** Returns at most `rows` snapshots, the newest first, of those before the snapshot `before`. */
export async function loadSnapshotPage(
  pool: Pool,
  filter: { readonly account?: string | undefined; readonly status?: SnapshotStatus | undefined },
  before: bigint | null,
  rows: number,
): Promise<PagedSnapshot[]> {
  const page = await pool.query<PagedSnapshot>(
    `select s.id::text, s.account, s.slot, s.taken_at as "takenAt", s.status, s.alert_rules_run::text as "alertRulesRun",
       s.mcp_servers_run::text as "mcpServersRun", (
         select p.id::text from ferry.snapshots p where p.account = s.account and p.taken_at < s.taken_at
         order by p.taken_at desc limit 1
       ) as previous
     from ferry.snapshots s
     where s.id < coalesce($1::bigint, 9223372036854775807)
       and ($2::text is null or s.account = $2) and ($3::text is null or s.status = $3)
     order by s.id desc limit $4`,
    [before, filter.account ?? null, filter.status ?? null, rows],
  )
  return page.rows
}

/** The account and the exact instant of a snapshot; null if there is none of this id. */
export async function findSnapshot(
  pool: Pool,
  id: bigint,
): Promise<{ readonly account: string; readonly at: string } | null> {
  const { rows } = await pool.query<{ account: string; at: string }>(
    `select account, ${keyInstant('taken_at')} as at from ferry.snapshots where id = $1`,
    [id],
  )
  return rows[0] ?? null
}
