import type { Pool } from 'pg'
import { z } from 'zod'
import { readClock } from '#src/db/clock.ts'
import { drizzleOf, sql } from '#src/db/drizzle.ts'
import { findAll, type Queryable } from '#src/db/rows.ts'
import { isAliveInSql } from '#src/db/workers.ts'
import { tickAfter } from '#src/model/cron-time.ts'
import type { Inventory } from '#src/model/resource.ts'
import { SANDBOX_KEY_SETTING } from '#src/model/settings.ts'
import { freshnessTargets } from './schema.ts'

/** How old the data of an inventory may be, by the settings of a worker. */
export type FreshnessTarget = Inventory & {
  readonly targetMs: number
  /** The schedule that keeps the target. */
  readonly schedule: string
  /** After this time without a snapshot a night is missed: the longest interval of the nightly schedule, and a grace. */
  readonly nightMs: number
  /** The time zone in which nights are counted. */
  readonly timezone: string
  /** When nights are due; null if not by a cron expression. */
  readonly nightlyCron?: string | null
  /** The days of the week of the nightly schedule, 1 (Monday) to 7; null if it is not due by them alone. */
  readonly weekdays: readonly number[] | null
  /** The folders that a listing must include to count, as text; null where the inventory has none. */
  readonly folders: readonly string[] | null
  /** Where the account's key is set, for messages. */
  readonly keySetting?: string | undefined
  /** How long its runs are kept; null for ever. How fresh the data was before that is unknown. */
  readonly runsKeptMs: number | null
}

/** Whether any of these inventories lacks its target: accounts ($1) and inventories ($2), in one order. */
export const ANY_MISSING_IN_SQL = `exists (
  select from unnest($1::text[], $2::text[]) as targeted (account, resource)
  where not exists (
    select from ferry.freshness_targets p where p.account = targeted.account and p.resource = targeted.resource))`

/** Intervals have no infinity in Postgres 15. */
const FOR_EVER = '100 years'

/**
 * Writes what this worker targets, in the place of what an earlier one wrote. Targets of accounts that it does not know stay: another
 * worker may keep them. But those of a sandbox that is gone are removed: its data is made up, and nobody can read it again.
 */
export async function saveFreshnessTargets(pool: Pool, targets: readonly FreshnessTarget[]): Promise<void> {
  if (targets.length === 0) return
  const { account, resource, target, target_before, target_changed_at } = freshnessTargets
  const { folders, target_since, nightly_cron, night_since, timezone } = freshnessTargets
  const excluded = (column: string) => sql.raw(`excluded.${column}`)
  // Changes within a day count as one: a setting that was tried, or workers with different ones, are no target of the past.
  const stays = sql`(excluded.target = ${target} or ${target_changed_at} > clock_timestamp() - interval '1 day')`
  const firstNights = JSON.stringify(await firstNightsOf(pool, targets))
  await drizzleOf(pool)
    .insert(freshnessTargets)
    .values(
      // In one order: workers that start at once write the same rows.
      targets
        .toSorted((a, b) => compare(a.account, b.account) || compare(a.resource, b.resource))
        .map(({ targetMs, nightMs, runsKeptMs, weekdays, keySetting, nightlyCron, ...same }) => ({
          ...same,
          weekdays: weekdays && [...weekdays],
          target: `${targetMs} milliseconds`,
          night: `${nightMs} milliseconds`,
          nightly_cron: nightlyCron ?? null,
          key_setting: keySetting ?? null,
          runs_kept: runsKeptMs === null ? FOR_EVER : `${runsKeptMs} milliseconds`,
          folders: sql`${JSON.stringify(same.folders)}::jsonb`,
        })),
    )
    .onConflictDoUpdate({
      target: [account, resource],
      set: {
        target: excluded('target'),
        night: excluded('night'),
        key_setting: excluded('key_setting'),
        schedule: excluded('schedule'),
        timezone: excluded('timezone'),
        nightly_cron: excluded('nightly_cron'),
        weekdays: excluded('weekdays'),
        folders: excluded('folders'),
        runs_kept: excluded('runs_kept'),
        // What was on time before the change is not late by the new target.
        target_before: sql`case when ${stays} then ${target_before} else ${target} end`,
        target_changed_at: sql`case when ${stays} then ${target_changed_at} else clock_timestamp() end`,
        // Other folders must be read first: nothing can be late before there was time for it.
        target_since: sql`case when excluded.folders = ${folders} then ${target_since} else clock_timestamp() end`,
        // The first night that is due then: one that was due at other times was not missed. An earlier version does not say at which.
        night_since: sql`case when ${nightly_cron} is null
          or (excluded.nightly_cron, excluded.timezone) is not distinct from (${nightly_cron}, ${timezone})
          then ${night_since} else coalesce(
            (${firstNights}::jsonb ->> (excluded.nightly_cron || ' ' || excluded.timezone))::timestamptz, clock_timestamp()) end`,
        written_at: sql`clock_timestamp()`,
      },
    })
  await pool.query(
    `delete from ferry.freshness_targets t
     where t.key_setting = $1 and not t.account = any ($2) and not exists (
       select from ferry.workers w where ${isAliveInSql('w')} and t.account = any (w.accounts))`,
    [SANDBOX_KEY_SETTING, targets.map(({ account }) => account)],
  )
}

/** When the next night is due by each cron expression and time zone, with a space between them. */
async function firstNightsOf(pool: Pool, targets: readonly FreshnessTarget[]): Promise<Record<string, Date>> {
  const { now } = await readClock(pool)
  const times = new Map(
    targets.flatMap(({ nightlyCron: cron, timezone }) =>
      cron ? [[`${cron} ${timezone}`, { cron, timezone }]] : [],
    ),
  )
  return Object.fromEntries([...times].map(([name, time]) => [name, tickAfter(time, now)]))
}

const NightTarget = z.object({ account: z.string(), nightMs: z.number() })

/** Returns after which time without a snapshot a night of each account is missed. */
export function listNightTargets(client: Queryable): Promise<z.infer<typeof NightTarget>[]> {
  return findAll(
    client,
    NightTarget,
    `select account, max(extract(epoch from night) * 1000)::float8 as night_ms from ferry.freshness_targets
     group by account order by account`,
  )
}

const NightTime = z.object({
  account: z.string(),
  /** Null if an earlier version wrote the target, which does not say it. */
  cron: z.string().nullable(),
  timezone: z.string(),
  /** The first of them; null if it was always so. */
  since: z.date().nullable(),
})

/** Returns when nights are due, by the settings of the worker that has the account, of those that have a target. */
export function listNightTimes(
  client: Queryable,
  accounts: readonly string[],
): Promise<z.infer<typeof NightTime>[]> {
  return findAll(
    client,
    NightTime,
    `select distinct on (account) account, nightly_cron as cron, timezone, nullif(night_since, '-infinity') as since
     from ferry.freshness_targets where account = any ($1) order by account, resource desc`,
    [accounts],
  )
}

/** Returns the accounts that have a freshness target: those that a worker had, until their targets are deleted. */
export async function listTargetedAccounts(pool: Pool): Promise<string[]> {
  const { account } = freshnessTargets
  const rows = await drizzleOf(pool).selectDistinct({ account }).from(freshnessTargets)
  return rows.map(row => row.account)
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
