import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { and, between, desc, drizzleOf, eq, isNotNull, isNull, lt, sql } from '#src/db/drizzle.ts'
import { findAll, findColumn, findMaybe, findOne, findValue, Int8 } from '#src/db/rows.ts'
import { removalHolds as holds, syncRuns as runs } from '#src/inventory/schema.ts'
import type { Inventory } from '#src/model/resource.ts'
import { RUN_STATUSES } from '#src/model/run.ts'

function heldRows() {
  return sql`cardinality(${holds.ids})`.mapWith(z.number().parse)
}

/** A hold of removals, open or ended. */
const HOLD = {
  id: holds.id,
  account: holds.account,
  resource: holds.resource,
  /** The runs from the first to the last one that found the rows gone. */
  openedByRun: holds.opened_by_run,
  lastRun: holds.last_run,
  rows: heldRows(),
  openedAt: holds.opened_at,
  /** Null while it is open. */
  endedAt: holds.ended_at,
  outcome: holds.outcome,
  rejectedBy: holds.rejected_by,
}

export type HoldRow = Awaited<ReturnType<typeof listHolds>>[number]

/** The newest holds first, those after hold `after` if it is given: either the open ones or those that have ended. */
export function listHolds(
  client: Pool | PoolClient,
  which: 'open' | 'ended',
  limit: number,
  after: bigint | null = null,
) {
  return drizzleOf(client)
    .select(HOLD)
    .from(holds)
    .where(
      and(
        which === 'open' ? isNull(holds.ended_at) : isNotNull(holds.ended_at),
        after === null ? undefined : lt(holds.id, after),
      ),
    )
    .orderBy(desc(holds.id))
    .limit(limit)
}

/** Returns the open hold that keeps this rule or server; null if there is none. */
export async function findHoldOfRow(
  pool: Pool,
  { account, resource }: Inventory,
  id: string,
): Promise<HoldRow | null> {
  const [hold] = await drizzleOf(pool)
    .select(HOLD)
    .from(holds)
    .where(
      and(
        isNull(holds.ended_at),
        eq(holds.account, account),
        eq(holds.resource, resource),
        sql`${id} = any (${holds.ids})`,
      ),
    )
  return hold ?? null
}

/** A hold, as somebody sees it who looks at it as of one of its runs. */
export type HoldOfRun = HoldRow & {
  readonly run: bigint
  /** Of its rows, those that this run did not hold. */
  readonly later: number
}

/** The hold that a run made or updated, open or ended: the one with rows of that run, if it was decided in parts. Null if it made none. */
export async function findHoldOfRun(pool: Pool, runId: bigint): Promise<HoldOfRun | null> {
  const since = sql`unnest(${holds.ids}, ${holds.since_runs}) held (id, since)`
  const later = sql`(select count(*) from ${since} where coalesce(held.since, ${holds.last_run}) > ${runId})`
  const [hold] = await drizzleOf(pool)
    .select({ ...HOLD, run: runs.id, later: later.mapWith(Number) })
    .from(runs)
    .innerJoin(
      holds,
      and(
        eq(holds.account, runs.account),
        eq(holds.resource, runs.resource),
        between(runs.id, holds.opened_by_run, holds.last_run),
      ),
    )
    .where(and(eq(runs.id, runId), eq(runs.status, 'held')))
    .orderBy(desc(sql`${later} < cardinality(${holds.ids})`), desc(holds.id))
    .limit(1)
  return hold ?? null
}

/** Counting the rows of a larger inventory takes too long for a page. */
export const MAX_COUNTED = 100_000

/** How large the part of its inventory is that a hold has. */
const HeldShare = z.object({
  /** The rows that are stored now, at most 100,001. */
  current: z.number(),
  /** Whether the last listing had no row at all, not even one that was set aside. */
  wasListingEmpty: z.boolean(),
})
export type HeldShare = Readonly<z.infer<typeof HeldShare>>

export function loadHeldShare(
  pool: Pool,
  { account, resource, lastRun }: Pick<HoldRow, 'account' | 'resource' | 'lastRun'>,
): Promise<HeldShare> {
  const versions = resource === 'alert-rules' ? 'alert_rule_versions' : 'mcp_server_versions'
  return findOne(
    pool,
    HeldShare,
    `select (select count(*)::int from (
         select from ferry.${versions} where account = $1 and valid_to is null limit $2
       ) v) as current,
       coalesce((select seen + quarantined = 0 from ferry.sync_runs where id = $3), false) as was_listing_empty`,
    [account, MAX_COUNTED + 1, lastRun],
  )
}

/**
 * The ids after `after` that a hold has had since its run `run`, or those that are `later`: short ones first, so that numbers are in
 * the order of their size.
 */
export function listHeldIds(
  pool: Pool,
  { id, run }: Pick<HoldOfRun, 'id' | 'run'>,
  which: 'seen' | 'later',
  limit: number,
  after: string | null = null,
): Promise<string[]> {
  return findColumn(
    pool,
    z.string(),
    `select held.id from ferry.removal_holds h cross join lateral unnest(h.ids, h.since_runs) held (id, since)
     where h.id = $1 and (coalesce(held.since, h.last_run) > $2) = $3
       and ($4::text is null or (length(held.id), held.id collate "C") > (length($4), $4))
     order by length(held.id), held.id collate "C" limit $5`,
    [id, run, which === 'later', after, limit],
  )
}

/** A row of a hold as it is now, or was last. Servers have no more than a name. */
const HeldRow = z.object({
  id: z.string(),
  name: z.string().nullable(),
  folder: z.string().nullable(),
  team: z.string().nullable(),
  by: z.string().nullable(),
  enabled: z.boolean(),
  firing: z.boolean(),
})
export type HeldRow = Readonly<z.infer<typeof HeldRow>>

/** Returns the rows of a hold that have these ids, and that the history still has. */
export function listHeldRows(
  pool: Pool,
  { account, resource }: Inventory,
  ids: readonly string[],
): Promise<HeldRow[]> {
  return findAll(
    pool,
    HeldRow,
    resource === 'alert-rules'
      ? `select distinct on (v.id) v.id::text, v.name, v.folder_id::text as folder, v.team, v.updater_name as by, v.enabled,
           f.id is not null as firing
         from ferry.alert_rule_versions v
         left join ferry.alert_rule_firings f on f.id = v.id and f.account = v.account and f.ended is null
         where v.account = $1 and v.id = any ($2::numeric[]) order by v.id, v.valid_from desc`
      : `select distinct on (server_id) server_id as id, server_name as name, null as folder, null as team, null as by,
           true as enabled, false as firing
         from ferry.mcp_server_versions
         where account = $1 and server_id = any ($2::text[]) order by server_id, valid_from desc`,
    [account, ids],
  )
}

/** Returns how many of the alert rules that a hold has had since its run `run` are firing now; null for servers. */
export async function countHeldFiring(
  pool: Pool,
  { id, run, resource }: Pick<HoldOfRun, 'id' | 'run' | 'resource'>,
): Promise<number | null> {
  if (resource !== 'alert-rules') return null
  const text = `
    select count(*)::int from ferry.removal_holds h
    cross join lateral unnest(h.ids, h.since_runs) held (id, since)
    join ferry.alert_rule_firings f on f.id = held.id::numeric and f.account = h.account and f.ended is null
    where h.id = $1 and coalesce(held.since, h.last_run) <= $2`
  return findValue(pool, z.number(), text, [id, run])
}

/** How many rules of a folder would go, and how many are there. */
const HeldFolder = z.object({ folder: z.string(), held: z.number(), current: z.number() })
export type HeldFolder = Readonly<z.infer<typeof HeldFolder>>

/** Counting the folders of more rows takes too long for a page. */
const MAX_SUMMED = 10_000

/**
 * The folders that would lose the most of the alert rules that the run held, at most `limit`. Empty for servers, which have no
 * folders, and for a hold of more than 10,000 rows.
 */
export async function listHeldFolders(
  pool: Pool,
  { id, account, resource, rows: held, run }: Pick<HoldOfRun, 'id' | 'rows' | 'run'> & Inventory,
  limit: number,
): Promise<HeldFolder[]> {
  if (resource !== 'alert-rules' || held > MAX_SUMMED) return []
  return findAll(
    pool,
    HeldFolder,
    `with held as (
       select r.id::numeric as id from ferry.removal_holds h cross join lateral unnest(h.ids, h.since_runs) r (id, since)
       where h.id = $1 and coalesce(r.since, h.last_run) <= $4
     )
     select v.folder_id::text as folder, count(held.id)::int as held, count(*)::int as current
     from ferry.alert_rule_versions v left join held on held.id = v.id
     where v.account = $2 and v.valid_to is null
     group by v.folder_id having count(held.id) > 0
     order by count(held.id) desc, v.folder_id limit $3`,
    [id, account, limit, run],
  )
}

/** A run that was to remove what a hold has. */
const Approval = z.object({
  run: Int8,
  status: z.enum(RUN_STATUSES),
  startedAt: z.date(),
  finishedAt: z.date().nullable(),
  removed: z.number(),
  errorCode: z.string().nullable(),
  requestId: z.string().nullable(),
  message: z.string().nullable(),
  actor: z.string().nullable(),
  because: z.string().nullable(),
})
export type Approval = Readonly<z.infer<typeof Approval>>

/** The last attempts to approve a hold, by itself or with all removals, with who made them, the last one first; at most `limit`. */
export function listApprovals(
  pool: Pool,
  { account, resource, openedByRun, openedAt, endedAt }: HoldRow,
  limit: number,
): Promise<Approval[]> {
  return findAll(
    pool,
    Approval,
    `select r.id as run, r.status, r.started_at, r.finished_at, r.removed,
       r.error_code, r.request_id, r.message, a.actor, a.because
     from ferry.sync_runs r
     left join ferry.audit a on a.subject_kind = 'run' and a.subject_id = r.id::text and a.action = 'sync'
     where r.account = $1 and r.resource = $2 and r.guard in ('approved', 'accepted') and r.id > $3
       and r.started_at between $4 and coalesce($5::timestamptz, 'infinity')
     order by r.id desc limit $6`,
    [account, resource, openedByRun, openedAt, endedAt, limit],
  )
}

/** What somebody said who rejected a hold: the run that was named, and why; null if no reason was given. */
const Rejection = z.object({ run: z.string(), because: z.string().nullable() })

/** Returns how a hold was rejected; null if the audit log has no entry of it any more. */
export function loadRejection(
  client: Pool | PoolClient,
  { account, resource, openedByRun, lastRun, endedAt }: EndedHold,
): Promise<z.infer<typeof Rejection> | null> {
  return findMaybe(
    client,
    Rejection,
    // A hold that was decided in parts was rejected more than once: this was at its end.
    `select a.subject_id as run, a.because from ferry.audit a
     where a.subject_kind = 'run' and a.action = 'reject' and a.subject_id in (
       select id::text from ferry.sync_runs
       where account = $1 and resource = $2 and status = 'held' and id between $3 and $4)
     order by abs(extract(epoch from a.at - $5)) limit 1`,
    [account, resource, openedByRun, lastRun, endedAt],
  )
}

type EndedHold = Pick<HoldRow, 'account' | 'resource' | 'openedByRun' | 'lastRun' | 'endedAt'>

/** The removals that wait for a person's decision: the latest run that found the rows gone, and how many they are. */
export function listOpenHolds(client: Pool | PoolClient) {
  const { account, resource, last_run } = holds
  return drizzleOf(client)
    .select({ account, resource, lastRun: last_run, rows: heldRows() })
    .from(holds)
    .where(isNull(holds.ended_at))
    .orderBy(account, resource)
}
