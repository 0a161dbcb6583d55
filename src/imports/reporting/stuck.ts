import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { isHeldInSql } from '#src/db/lease-rows.ts'
import { findAll } from '#src/db/rows.ts'
import { isAliveInSql } from '#src/db/workers.ts'
import { isActiveInSql, isBehindInSql, leaseNameInSql } from '#src/imports/page.ts'
import { TAKEN_WITHIN_MS } from './pace.ts'

/** An active import that should be sent, and how it goes. */
const ActiveImport = z.object({
  id: z.string(),
  account: z.string(),
  pending: z.number(),
  /** Calls in a row, up to the last one, that failed for other reasons than their content. */
  failures: z.number(),
  /** Since rows of it were sent, or a person queued it. */
  idleMs: z.number(),
  /** Whether some process is sending it, or will: a live worker has its account, and did not leave the lease of a dead one. */
  hasWorker: z.boolean(),
})
export type ActiveImport = Readonly<z.infer<typeof ActiveImport>>

export type WhyStuck = 'no worker' | 'no progress' | 'calls fail'

export type StuckImport = ActiveImport & { readonly why: WhyStuck }

/** Twenty imports that share a limit each have a turn within ten minutes. */
const IDLE_FOR_MS = 900_000

/** Decides whether an active import is stuck, and why; null if it is not. */
export function whyStuck({ failures, idleMs, hasWorker }: ActiveImport): WhyStuck | null {
  if (!hasWorker) return idleMs < TAKEN_WITHIN_MS ? null : 'no worker'
  if (idleMs >= IDLE_FOR_MS) return 'no progress'
  return failures > 0 ? 'calls fail' : null
}

/** Returns the active imports that are stuck, the oldest first, at most `limit`. One that others go before is not. */
export async function listStuckImports(client: Pool | PoolClient, limit: number): Promise<StuckImport[]> {
  const active = await findAll(client, ActiveImport, ACTIVE, [TAKEN_WITHIN_MS])
  const stuck = active.flatMap(row => {
    const why = whyStuck(row)
    return why === null ? [] : { ...row, why }
  })
  return stuck.slice(0, limit)
}

/** Whether any import is sent, or waits to be sent. */
export async function isAnyImportActive(pool: Pool): Promise<boolean> {
  const { rowCount } = await pool.query(
    `select from ferry.imports i where i.finished_at is null and ${isActiveInSql('i')} limit 1`,
  )
  return rowCount === 1
}

/** By indexes alone. */
const ACTIVE = `
  select i.id, i.account, i.failures, i.recipients - i.sent - i.uncertain as pending,
    extract(epoch from clock_timestamp() - greatest(
      coalesce(i.confirmed_at, i.created_at),
      (select max(a.at) from ferry.audit a
       where a.subject_kind = 'import' and a.subject_id = i.id::text
         and a.action in ('confirm', 'resume', 'resolve')),
      (select b.sent_at from ferry.import_batches b
       where b.import_id = i.id and b.state = 'sent' order by b.sent_at desc limit 1)
    ))::float8 * 1000 as idle_ms,
    ${isHeldInSql(leaseNameInSql('i'))} or exists (
      select from ferry.workers w
      where ${isAliveInSql('w')}
        and i.account = any (w.accounts))
      and not exists (
        select from ferry.leases lost
        where lost.name = ${leaseNameInSql('i')} and lost.expires_at <= clock_timestamp() - $1 * interval '1 ms') as has_worker
  from ferry.imports i
  where i.finished_at is null and ${isActiveInSql('i')} and not ${isBehindInSql('i')}
  order by i.id`

/** How far an import is that runs, and whether its calls fail. */
const RunningImport = z.object({
  id: z.string(),
  sent: z.number(),
  toBeSent: z.number(),
  /** Calls in a row, up to the last one, that failed for other reasons than their content. */
  failures: z.number(),
})
export type RunningImport = Readonly<z.infer<typeof RunningImport>>

/** Returns imports that run, first those whose last call failed, then the oldest; at most `limit`. */
export function listRunningImports(client: Pool | PoolClient, limit: number): Promise<RunningImport[]> {
  return findAll(
    client,
    RunningImport,
    `select id, sent, recipients as to_be_sent, failures from ferry.imports
     where finished_at is null and status = 'running' order by failures = 0, id limit $1`,
    [limit],
  )
}
