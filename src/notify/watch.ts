import type { Pool, PoolClient } from 'pg'
import { setOpenEvents } from '#src/db/outbox.ts'
import { inTransaction } from '#src/db/pool.ts'
import { RESOURCES } from '#src/model/resource.ts'

/*
 * What becomes true because time passes, or because of several runs: no single transaction of theirs makes it so. It is
 * looked at again and again, and told in a transaction of its own.
 */

export type Watched = {
  readonly pool: Pool
  /** The accounts of this worker's configuration; others are left alone. */
  readonly accounts: readonly string[]
  /** The latest time at or before another at which the nightly snapshot was due. */
  nightBefore(at: Date): Date
}

/** An inventory fails when so many runs in a row did. One may be bad luck. */
const FAILED_IN_A_ROW = 3

/** A snapshot that is not taken so long after it was due is missed: by then its attempts are over. */
const NIGHT_MISSED_AFTER_MS = 3_600_000

/** Looks at everything once. */
export function watch({ pool, accounts, nightBefore }: Watched): Promise<void> {
  return inTransaction(pool, async client => {
    await setOpenEvents(client, 'inventory.late', accounts, await findLate(client, accounts))
    await setOpenEvents(client, 'run.failing', accounts, await findFailing(client, accounts))
    await setOpenEvents(client, 'night.missed', accounts, await findMissed(client, accounts, nightBefore))
  })
}

/** What was never read is late once its promise has passed since it was made. */
async function findLate(client: PoolClient, accounts: readonly string[]) {
  const { rows } = await client.query<{ account: string; inventory: string; why: string | null }>(
    `select f.account, f.inventory, f.why_late as why from ferry.freshness f
     left join ferry.inventory_promises p on p.account = f.account and p.resource = f.inventory
     where f.account = any ($1)
       and (f.state = 'late' or f.state = 'never' and p.promised_since + p.promise < clock_timestamp())`,
    [accounts],
  )
  return rows.map(({ account, inventory, why }) => ({
    account,
    subject: inventory,
    data: { inventory, why },
  }))
}

async function findFailing(client: PoolClient, accounts: readonly string[]) {
  const { rows } = await client.query<{ account: string; inventory: string; run: string; code: string }>(
    `select a.account, i.inventory, last.run, last.code
     from unnest($1::text[]) a (account) cross join unnest($2::text[]) i (inventory)
     cross join lateral (
       select count(*) filter (where status = 'failed') as failed, max(id)::text as run,
         (array_agg(error_code order by id desc))[1] as code
       from (
         select id, status, error_code from ferry.sync_runs r
         where r.account = a.account and r.resource = i.inventory and status not in ('running', 'skipped')
         order by id desc limit $3
       ) runs
     ) last
     where last.failed = $3`,
    [accounts, RESOURCES, FAILED_IN_A_ROW],
  )
  return rows.map(({ account, inventory, run, code }) => ({
    account,
    subject: inventory,
    data: { inventory, run, code },
  }))
}

/** A schedule that a person paused misses nothing, and neither does an account that was not there yet. */
async function findMissed(
  client: PoolClient,
  accounts: readonly string[],
  nightBefore: Watched['nightBefore'],
) {
  const clock = await client.query<{ now: Date }>('select clock_timestamp() as now')
  const now = clock.rows[0]?.now.getTime() ?? 0
  const night = nightBefore(new Date(now - NIGHT_MISSED_AFTER_MS))
  const { rows } = await client.query<{ account: string }>(
    `select a.account from unnest($1::text[]) a (account)
     where not exists (select from ferry.snapshots s where s.account = a.account and s.taken_at >= $2)
       and (
         select r.started_at from ferry.sync_runs r where r.account = a.account and r.resource = 'alert-rules'
         order by r.id limit 1
       ) < $2
       and not exists (
         select from ferry.schedule_pauses p where p.account = a.account and p.schedule = 'snapshot-inventory')`,
    [accounts, night],
  )
  return rows.map(({ account }) => ({ account, subject: '', data: { night: night.toISOString() } }))
}

/** Whether every inventory of these accounts is as fresh as promised. */
export async function areAllFresh({ pool, accounts }: Pick<Watched, 'pool' | 'accounts'>): Promise<boolean> {
  const { rows } = await pool.query<{ account: string; fresh: boolean }>(
    `select account, bool_and(state = 'fresh') as fresh from ferry.freshness where account = any ($1) group by account`,
    [accounts],
  )
  return rows.length === accounts.length && rows.every(({ fresh }) => fresh)
}
