import { z } from 'zod'
import { findAll, Int8, type Queryable } from '#src/db/rows.ts'
import { isAliveInSql } from '#src/db/workers.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { type Trouble, troubleInWords, WHY_LATE } from '#src/model/trouble.ts'

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
  whyLate: z.enum(WHY_LATE).nullable(),
  /** The last run since that failed or was partial, with its code and the platform's request_id. */
  lastFailedRun: Int8.nullable(),
  errorCode: z.string().nullable(),
  requestId: z.string().nullable(),
  /** Whether no live worker has the account, and nothing of it was tried for a day, though it has a target. */
  isAbandoned: z.boolean(),
  /** Whether a live worker has the account. */
  hasWorker: z.boolean(),
  /** Where the key of the account is set, by the settings of a worker. */
  keySetting: z.string().nullable(),
})
export type Freshness = Readonly<z.infer<typeof Freshness>>
export type FreshnessState = Freshness['state']

/** Returns how fresh each inventory is, by account and inventory; of one account if it is given. */
export function loadFreshness(client: Queryable, account: string | null = null): Promise<Freshness[]> {
  return findAll(client, Freshness, FRESHNESS, [account, RESOURCES])
}

/** What is late of these accounts: what was never read is, once its target has passed since it was set. */
export async function listLate(client: Queryable, accounts: readonly string[]): Promise<Freshness[]> {
  const judged = await findAll(client, Judged, JUDGED, [accounts])
  const known = await loadFreshness(client)
  return known.filter(({ account, inventory, state }) => {
    const one = judged.find(other => other.account === account && other.inventory === inventory)
    return one !== undefined && (state === 'late' || (state === 'never' && one.isOverdue))
  })
}

/** Whether every inventory of these accounts is within its freshness target. One that has none is not. */
export async function areAllFresh(client: Queryable, accounts: readonly string[]): Promise<boolean> {
  const judged = await findAll(client, Judged, JUDGED, [accounts])
  const known = new Set(judged.map(({ account }) => account))
  return known.size === accounts.length && judged.every(({ state }) => state === 'fresh')
}

const Judged = Freshness.pick({ account: true, inventory: true, state: true }).extend({
  /** Whether there was time to read it since its target was set. */
  isOverdue: z.boolean(),
})

const JUDGED = `
  select f.account, f.inventory, f.state,
    coalesce(t.target_since + t.target < clock_timestamp(), false) as is_overdue
  from ferry.freshness f
  left join ferry.freshness_targets t on t.account = f.account and t.resource = f.inventory
  where f.account = any ($1)`

const FRESHNESS = `
  select f.account, f.inventory, last_complete_at, last_complete_run,
    round(extract(epoch from age) * 1000)::float8 as age_ms,
    round(extract(epoch from f.target) * 1000)::float8 as target_ms,
    p.schedule, p.key_setting, state, why_late, last_failed_run, error_code, request_id,
    -- An older worker does not say which accounts it has: then it may have any.
    exists (
      select from ferry.workers w where ${isAliveInSql('w')}
        and (f.account = any (w.accounts) or w.accounts = '{}')) as has_worker,
    case when why_late in ('no run', 'failed', 'partial') and f.target is not null then
      not exists (
        select from ferry.workers w where ${isAliveInSql('w')}
          and f.account = any (w.accounts))
      and clock_timestamp() - interval '1 day' > all (
        select r.started_at from unnest($2::text[]) i (inventory) cross join lateral (
          select started_at from ferry.sync_runs
          where account = f.account and resource = i.inventory order by id desc limit 1) r
        union all
        select target_since from ferry.freshness_targets where account = f.account)
    else false end as is_abandoned
  from ferry.freshness f
  left join ferry.freshness_targets p on p.account = f.account and p.resource = f.inventory
  where f.account = coalesce($1, f.account)
  order by f.account, f.inventory`

/** Of these inventories, those that are older than their freshness target: what is shown of them may not be so any more. */
export async function loadLate(
  client: Queryable,
  of: readonly Resource[],
  account: string | null,
): Promise<Freshness[]> {
  const known = await loadFreshness(client, account)
  return known.filter(row => of.includes(row.inventory) && isLate(row))
}

/** Whether the inventory is older than its freshness target, or was never read completely. */
export function isLate({ state }: Pick<Freshness, 'state'>): boolean {
  return state === 'late' || state === 'never'
}

/** Says why an inventory is late and what to do; null if it is not. */
export function explainLateness(freshness: Freshness): string | null {
  const trouble = troubleOf(freshness)
  const { account, isAbandoned } = freshness
  const ifRemoved = isAbandoned
    ? ` If the account was removed for good: delete from ferry.freshness_targets where account = ${literal(account)}.`
    : ''
  return trouble && troubleInWords(trouble) + ifRemoved
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`
}

/** Why an inventory is late; null if it is not. */
export function troubleOf({ whyLate, lastFailedRun, errorCode, ...same }: Freshness): Trouble | null {
  if (whyLate === null) return null
  const run = lastFailedRun === null ? null : `${lastFailedRun}`
  return { ...same, why: same.isAbandoned ? 'no run' : whyLate, run, code: errorCode }
}
