import { z } from 'zod'
import { findAll, Int8, type Queryable } from '#src/db/rows.ts'
import { SILENT_AFTER_MS } from '#src/db/workers.ts'
import { RESOURCES } from '#src/model/resource.ts'

/** How fresh one inventory of one account is, see the view `ferry.freshness`. */
const Freshness = z.object({
  account: z.string(),
  inventory: z.enum(RESOURCES),
  /** When the last complete listing began to be read. */
  lastCompleteAt: z.date().nullable(),
  lastCompleteRun: Int8.nullable(),
  ageMs: z.number().nullable(),
  /** Null as long as no worker has run. */
  targetMs: z.number().nullable(),
  /** The schedule that keeps the target. */
  schedule: z.string().nullable(),
  /** Whether it is within its freshness target. */
  state: z.enum(['fresh', 'late', 'never', 'no target']),
  /** Null unless it is late or never. */
  whyLate: z.enum(['failed', 'partial', 'running', 'no run', 'paused', 'clock set back']).nullable(),
  /** The last run since that failed or was partial, with its code and the platform's request_id. */
  lastFailedRun: Int8.nullable(),
  errorCode: z.string().nullable(),
  requestId: z.string().nullable(),
  /** Whether no live worker has the account, and nothing of it was tried for a day, though it has a target. */
  isAbandoned: z.boolean(),
})
export type Freshness = Readonly<z.infer<typeof Freshness>>
export type FreshnessState = Freshness['state']
export type WhyLate = NonNullable<Freshness['whyLate']>

/** Returns how fresh each inventory is, by account and inventory; of one account if it is given. */
export function loadFreshness(client: Queryable, account: string | null = null): Promise<Freshness[]> {
  return findAll(client, Freshness, FRESHNESS, [account, RESOURCES, SILENT_AFTER_MS])
}

/** What is late, as a part of `Freshness`: what was never read is, once its target has passed since it was set. */
export async function listLate(client: Queryable, accounts: readonly string[]): Promise<Judged[]> {
  const judged = await findAll(client, Judged, JUDGED, [accounts])
  return judged.filter(({ state, isOverdue }) => state === 'late' || (state === 'never' && isOverdue))
}

/** Whether every inventory of these accounts is within its freshness target. One that has none is not. */
export async function areAllFresh(client: Queryable, accounts: readonly string[]): Promise<boolean> {
  const judged = await findAll(client, Judged, JUDGED, [accounts])
  const known = new Set(judged.map(({ account }) => account))
  return known.size === accounts.length && judged.every(({ state }) => state === 'fresh')
}

const Judged = Freshness.pick({ account: true, inventory: true, state: true, whyLate: true }).extend({
  /** Whether there was time to read it since its target was set. */
  isOverdue: z.boolean(),
})
type Judged = z.infer<typeof Judged>

const JUDGED = `
  select f.account, f.inventory, f.state, f.why_late,
    coalesce(t.target_since + t.target < clock_timestamp(), false) as is_overdue
  from ferry.freshness f
  left join ferry.freshness_targets t on t.account = f.account and t.resource = f.inventory
  where f.account = any ($1)`

const FRESHNESS = `
  select account, inventory, last_complete_at, last_complete_run,
    round(extract(epoch from age) * 1000)::float8 as age_ms,
    round(extract(epoch from target) * 1000)::float8 as target_ms,
    (select schedule from ferry.freshness_targets p where p.account = f.account and p.resource = f.inventory) as schedule,
    state, why_late, last_failed_run, error_code, request_id,
    -- An older worker does not say which accounts it has: then it may have any.
    case when why_late = 'no run' and target is not null then
      not exists (
        select from ferry.workers w where w.seen_at > clock_timestamp() - $3 * interval '1 ms'
          and f.account = any (w.accounts))
      and clock_timestamp() - interval '1 day' > all (
        select r.started_at from unnest($2::text[]) i (inventory) cross join lateral (
          select started_at from ferry.sync_runs
          where account = f.account and resource = i.inventory order by id desc limit 1) r
        union all
        select target_since from ferry.freshness_targets where account = f.account)
    else false end as is_abandoned
  from ferry.freshness f where account = coalesce($1, account)`

/** Whether the inventory is older than its freshness target, or was never read completely. */
export function isLate({ state }: Pick<Freshness, 'state'>): boolean {
  return state === 'late' || state === 'never'
}

/** Says why an inventory is late and what to do; null if it is not. */
export function explainLateness(freshness: Freshness): string | null {
  const { state, whyLate, account, schedule, lastFailedRun, errorCode, isAbandoned } = freshness
  const code = errorCode === null ? '' : ` (${errorCode})`
  switch (whyLate) {
    case 'failed':
      return `The last run failed${code}. \`ferry runs show ${lastFailedRun}\` says why.`
    case 'partial':
      return `The last listing was not complete${code}. \`ferry runs show ${lastFailedRun}\` says why.`
    case 'running':
      return 'A run is under way and has not ended yet.'
    case 'no run':
      return (
        `No run was tried ${state === 'never' ? 'yet' : 'since'}. Check that a worker is running and has this account.` +
        (isAbandoned
          ? ` If the account was removed for good: delete from ferry.freshness_targets where account = ${literal(account)}.`
          : '')
      )
    case 'paused':
      return `Its schedule is paused. \`ferry schedules resume ${schedule} --account ${account}\` lets it go on.`
    case 'clock set back':
      return "The listing is later than the database's clock: the clock was set back. The next complete run ends this."
    case null:
      return null
  }
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}
