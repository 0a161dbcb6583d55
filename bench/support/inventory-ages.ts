import type { Client } from 'pg'

/** The time between two complete listings of the alert rules of an account. */
type Gap = { readonly account: string; readonly fromAt: Date; readonly toAt: Date }

/** An account whose alert rules a worker was reading when it was killed. */
export type Loss = { readonly account: string; readonly at: Date }

/**
 * How old the alert rules of any account were at most, in seconds, from `since` until now: what was read at the end of one
 * complete listing is as old as the time to the end of the next one. Where a worker that read them was killed is counted
 * apart.
 */
export async function loadWorstAges(
  client: Client,
  since: Date,
  losses: readonly Loss[],
): Promise<{ readonly undisturbed: number; readonly afterLoss: number }> {
  const { rows: gaps } = await client.query<Gap>(
    `with complete as (
       select account, finished_at from ferry.sync_runs where resource = 'alert-rules' and status = 'succeeded'
       union all
       select distinct account, clock_timestamp() from ferry.sync_runs
     ), gaps as (
       select account, lag(finished_at) over (partition by account order by finished_at) as "fromAt", finished_at as "toAt"
       from complete
     )
     select * from gaps where "toAt" > $1 and "fromAt" is not null`,
    [since],
  )
  const isAfterLoss = ({ account, fromAt, toAt }: Gap) =>
    losses.some(loss => loss.account === account && loss.at >= fromAt && loss.at <= toAt)
  const [undisturbed, afterLoss] = [false, true].map(isAsked =>
    Math.max(
      0,
      ...gaps
        .filter(gap => isAfterLoss(gap) === isAsked)
        .map(({ fromAt, toAt }) => (toAt.getTime() - fromAt.getTime()) / 1000),
    ),
  ) as [number, number]
  return { undisturbed, afterLoss }
}

/** What a process was reading that has just been killed: the leases that it left. */
export async function loadLosses(client: Client, pid: number): Promise<Loss[]> {
  const { rows } = await client.query<Loss>(
    `select split_part(name, ':', 2) as account, clock_timestamp() as at from ferry.leases
     where name like 'sync:%:alert-rules' and holder like $1 and expires_at > clock_timestamp()`,
    [`%:${pid}:%`],
  )
  return rows
}

/** The instant from which every one of so many accounts has a complete listing; null while one has none. */
export async function allReadSince(client: Client, accounts: number): Promise<Date | null> {
  const { rows } = await client.query<{ accounts: number; since: Date }>(
    `select count(*)::int as accounts, max(first) as since from (
       select min(finished_at) as first from ferry.sync_runs
       where resource = 'alert-rules' and status = 'succeeded' group by account) f`,
  )
  return rows[0]?.accounts === accounts ? rows[0].since : null
}

/** Pairs of runs of one inventory of which one began before the other had ended. A lost run ends when it is taken over. */
export async function countOverlaps(client: Client): Promise<number> {
  const { rows } = await client.query<{ overlaps: number }>(
    `select count(*)::int as overlaps from ferry.sync_runs a join ferry.sync_runs b
       on b.account = a.account and b.resource = a.resource and b.id <> a.id and b.started_at >= a.started_at
       and b.started_at < coalesce(a.finished_at, clock_timestamp())
     where a.status <> 'skipped' and b.status <> 'skipped'`,
  )
  return rows[0]?.overlaps ?? Number.NaN
}
