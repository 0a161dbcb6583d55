import { hostname } from 'node:os'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { desc, drizzleOf, sql } from './drizzle.ts'
import { answeringWithin } from './pool.ts'
import { workers } from './schema.ts'

/*
 * Which workers there are: each writes that it lives, and takes its row away when it ends. A row that stays silent is of a
 * worker that died, or that does not reach Postgres. No work depends on these rows: leases decide who works. The worker
 * that tells people of what goes wrong finds the accounts of the others in them.
 */

/** How often a worker writes that it lives. */
export const SEEN_EVERY_MS = 30_000
/** Two of these may fail before a worker counts as silent. */
export const SILENT_AFTER_MS = 3 * SEEN_EVERY_MS

/** SQL that says whether a row of `ferry.workers` is that of a worker that lives. */
export function isAliveInSql(worker: string): string {
  return `${worker}.seen_at > clock_timestamp() - interval '${SILENT_AFTER_MS} ms'`
}

/** A worker that ends waits no longer for Postgres; its row then tells that it is silent. */
const REMOVE_WITHIN_MS = 1_000

/** Records that this process works for `accounts`, and since when. `holder` is the name that its leases have. */
export async function recordWorker(
  pool: Pool,
  holder: string,
  version: string | null,
  accounts: Iterable<string>,
): Promise<void> {
  const now = sql`clock_timestamp()`
  await drizzleOf(pool)
    .insert(workers)
    .values({
      holder,
      host: hostname(),
      pid: process.pid,
      version,
      accounts: [...accounts],
      started_at: now,
      seen_at: now,
    })
    .onConflictDoUpdate({ target: workers.holder, set: { seen_at: now } })
}

/** Takes the row of a worker away that has ended. Fails after a second without an answer. */
export async function removeWorker(pool: Pool, holder: string): Promise<void> {
  await answeringWithin(pool, REMOVE_WITHIN_MS).query('delete from ferry.workers where holder = $1', [holder])
}

export type WorkerRow = Awaited<ReturnType<typeof listWorkers>>[number]

/** The workers of the last day, those that were seen last first; at most `limit`. */
export function listWorkers(client: Pool | PoolClient, limit: number) {
  const { holder, host, pid, version, started_at, seen_at } = workers
  return drizzleOf(client)
    .select({
      holder,
      host,
      pid,
      version,
      startedAt: started_at,
      seenAt: seen_at,
      isAlive: sql.raw(isAliveInSql('workers')).mapWith(z.boolean().parse),
    })
    .from(workers)
    .orderBy(desc(seen_at))
    .limit(limit)
}
