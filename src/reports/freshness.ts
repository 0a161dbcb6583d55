import type { Pool, PoolClient } from 'pg'
import { SILENT_AFTER_MS } from '#src/db/workers.ts'
import { type Inventory, RESOURCES } from '#src/model/resource.ts'

/** Whether an inventory is as young as promised, see the view `ferry.freshness`. */
export type FreshnessState = 'fresh' | 'late' | 'never' | 'no promise'

export type WhyLate = 'failed' | 'partial' | 'running' | 'no run' | 'paused' | 'clock set back'

/** How fresh one inventory of one account is. */
export type Freshness = {
  readonly account: string
  readonly inventory: Inventory['resource']
  /** When the last complete listing began to be read. */
  readonly lastCompleteAt: Date | null
  readonly lastCompleteRun: bigint | null
  readonly ageMs: number | null
  /** Null as long as no worker has run. */
  readonly promiseMs: number | null
  /** The schedule that keeps the promise. */
  readonly schedule: string | null
  readonly state: FreshnessState
  /** Null unless it is late or never. */
  readonly whyLate: WhyLate | null
  /** The last run since that failed or was partial, with its code and the platform's request_id. */
  readonly lastFailedRun: bigint | null
  readonly errorCode: string | null
  readonly requestId: string | null
  /** Whether no live worker has the account, and nothing of it was tried for a day, though it was promised. */
  readonly isAbandoned: boolean
}

type Row = Omit<Freshness, 'lastCompleteRun' | 'lastFailedRun'> & {
  readonly lastCompleteRun: string | null
  readonly lastFailedRun: string | null
}

/** Returns how fresh each inventory is, by account and inventory; of one account if it is given. */
export async function loadFreshness(
  client: Pool | PoolClient,
  account: string | null = null,
): Promise<Freshness[]> {
  const { rows } = await client.query<Row>(FRESHNESS, [account, RESOURCES, SILENT_AFTER_MS])
  return rows.map(row => ({
    ...row,
    lastCompleteRun: row.lastCompleteRun === null ? null : BigInt(row.lastCompleteRun),
    lastFailedRun: row.lastFailedRun === null ? null : BigInt(row.lastFailedRun),
  }))
}

const FRESHNESS = `
  select account, inventory, last_complete_at as "lastCompleteAt", last_complete_run as "lastCompleteRun",
    round(extract(epoch from age) * 1000)::float8 as "ageMs",
    round(extract(epoch from promise) * 1000)::float8 as "promiseMs",
    (select schedule from ferry.inventory_promises p where p.account = f.account and p.resource = f.inventory) as "schedule",
    state, why_late as "whyLate", last_failed_run as "lastFailedRun", error_code as "errorCode", request_id as "requestId",
    -- An older worker does not say which accounts it has: then it may have any.
    case when why_late = 'no run' and promise is not null then
      not exists (
        select from ferry.workers w where w.seen_at > clock_timestamp() - $3 * interval '1 ms'
          and (w.accounts = '{}' or f.account = any (w.accounts)))
      and clock_timestamp() - interval '1 day' > all (
        select r.started_at from unnest($2::text[]) i (inventory) cross join lateral (
          select started_at from ferry.sync_runs
          where account = f.account and resource = i.inventory order by id desc limit 1) r
        union all
        select promised_since from ferry.inventory_promises where account = f.account)
    else false end as "isAbandoned"
  from ferry.freshness f where account = coalesce($1, account)`

/** Whether the inventory is older than promised, or was never read completely. */
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
          ? ` If the account was removed for good: delete from ferry.inventory_promises where account = ${literal(account)}.`
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
