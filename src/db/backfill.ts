import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { fenceWithLease, type Lease } from './leases.ts'
import { inTransaction } from './pool.ts'
import { findAll, findColumn, findMaybe } from './rows.ts'

/*
 * A backfill changes the rows of a large table after a migration, while workers of this release and of the one before work:
 *
 *     one transaction: check the lease ─► change the next rows ─► store the position        then rest as long as that took
 *
 * So no lock is held for long, a crash costs one batch, and the next worker goes on from the position.
 */

export type Backfill = {
  /** Never used again for another one. */
  readonly name: string
  /**
   * Changes the next rows after a position, of which null is the first, and returns the new position, or null if there were none
   * left. About a thousand rows at a time: they are locked meanwhile. Rows that are made meanwhile are right from the beginning.
   */
  readonly changeNext: (client: PoolClient, position: string | null) => Promise<string | null>
}

/** Runs a backfill to its end. Stops between two batches if `signal` or the lease aborts. Throws `LeaseLost`. */
export async function runBackfill(
  pool: Pool,
  lease: Pick<Lease, 'name' | 'token' | 'signal'>,
  { name, changeNext }: Backfill,
  signal: AbortSignal,
): Promise<void> {
  const stopping = AbortSignal.any([signal, lease.signal])
  for (let isDone = false; !isDone; ) {
    stopping.throwIfAborted()
    const startedAtMs = performance.now()
    isDone = await inTransaction(pool, async client => {
      await fenceWithLease(client, lease)
      const state = await findMaybe(client, State, LOAD, [name])
      if (state?.isDone) return true
      const position = await changeNext(client, state?.position ?? null)
      await client.query(SAVE, [name, position])
      return position === null
    })
    if (!isDone) await delay(performance.now() - startedAtMs, undefined, { signal: stopping })
  }
}

/** Returns those of the backfills that have not ended, in their order. */
export async function findUnfinished(pool: Pool, backfills: readonly Backfill[]): Promise<Backfill[]> {
  if (backfills.length === 0) return []
  const done = await findColumn(
    pool,
    z.string(),
    'select name from ferry.backfills where finished_at is not null',
  )
  return backfills.filter(({ name }) => !done.includes(name))
}

const Unfinished = z.object({ name: z.string(), batches: z.number(), changedAt: z.date().nullable() })
export type Unfinished = Readonly<z.infer<typeof Unfinished>>

/** Lists those of the names that have not ended, and what else was begun and has not: another release may know more. */
export function listUnfinished(pool: Pool, names: readonly string[]): Promise<Unfinished[]> {
  return findAll(
    pool,
    Unfinished,
    `select name, coalesce(b.batches, 0) as batches, b.changed_at
     from (select unnest($1::text[]) union select name from ferry.backfills) n (name) left join ferry.backfills b using (name)
     where b.finished_at is null order by name`,
    [names],
  )
}

const State = z.object({ position: z.string().nullable(), isDone: z.boolean() })

const LOAD = 'select position, finished_at is not null as is_done from ferry.backfills where name = $1'

/** The position stays when there is no next one. */
const SAVE = `
  insert into ferry.backfills as b (name, position, finished_at)
  values ($1, $2, case when $2::text is null then clock_timestamp() end)
  on conflict (name) do update set position = coalesce(excluded.position, b.position), batches = b.batches + 1,
    changed_at = clock_timestamp(), finished_at = excluded.finished_at`
