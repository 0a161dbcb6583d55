import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, findMaybe, keyInstant } from '#src/db/rows.ts'
import { SNAPSHOT_STATUSES, type SnapshotStatus } from '#src/inventory/states.ts'

const PagedSnapshot = z.object({
  id: z.string(),
  account: z.string(),
  /** The night of the schedule; null: it was taken by hand. */
  slot: z.date().nullable(),
  takenAt: z.date(),
  status: z.enum(SNAPSHOT_STATUSES),
  alertRulesRun: z.string(),
  mcpServersRun: z.string(),
  /** The snapshot before it of the same account; null if it is the first that is kept. */
  previous: z.string().nullable(),
})
export type PagedSnapshot = Readonly<z.infer<typeof PagedSnapshot>>

/** Returns at most `rows` snapshots, the newest first, of those before the snapshot `before`. */
export function loadSnapshotPage(
  pool: Pool,
  filter: { readonly account?: string | undefined; readonly status?: SnapshotStatus | undefined },
  before: bigint | null,
  rows: number,
): Promise<PagedSnapshot[]> {
  return findAll(
    pool,
    PagedSnapshot,
    `select s.id::text, s.account, s.slot, s.taken_at, s.status, s.alert_rules_run::text, s.mcp_servers_run::text, (
         select p.id::text from ferry.snapshots p where p.account = s.account and p.taken_at < s.taken_at
         order by p.taken_at desc limit 1
       ) as previous
     from ferry.snapshots s
     where s.id < coalesce($1::bigint, 9223372036854775807)
       and ($2::text is null or s.account = $2) and ($3::text is null or s.status = $3)
     order by s.id desc limit $4`,
    [before, filter.account ?? null, filter.status ?? null, rows],
  )
}

const SnapshotInstant = z.object({ account: z.string(), at: z.string() })

/** The account and the exact instant of a snapshot; null if no snapshot has this id. */
export function findSnapshot(
  pool: Pool,
  id: bigint,
): Promise<Readonly<z.infer<typeof SnapshotInstant>> | null> {
  return findMaybe(
    pool,
    SnapshotInstant,
    `select account, ${keyInstant('taken_at')} as at from ferry.snapshots where id = $1`,
    [id],
  )
}
