import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { queryWithin } from './database.ts'
import { isPassing } from './patience.ts'

/**
 * A lease says who works: one row a name, with a token that only its holder knows and a time by the database's
 * clock. A worker that dies leaves a lease that runs out; one that was suspended finds that its token no longer
 * counts, and its work is refused (the token is checked inside the transaction that applies the work).
 *
 * That transaction keeps the row locked, and a lease whose row is locked is in use, whatever its time says: it is not
 * taken over, and its work is not called lost. Nobody waits for such a lock, which may be held for minutes.
 *
 * 15 s: long enough that a pause for garbage or a heavy parse costs nothing, short enough that work goes on soon
 * after a crash. Renewed every 5 s, so two renewals may fail.
 */
export const LEASE_MS = 15_000

/** A lease is renewed three times in its life. */
const RENEWALS = 3
/** One that could not be renewed, or was locked at that moment, is tried again sooner. */
const TRIES = 15

export type Lease = {
  readonly name: string
  readonly token: string
  /** Aborts once the lease is known to be lost. */
  readonly signal: AbortSignal
  /** Gives the lease up; never fails, since a lease that cannot be given up runs out. */
  release(): Promise<void>
}

/** The work took longer than its lease lived: somebody else may be at it, so it was not applied. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

/** Returns a lease that is renewed until it is released, or the holder who has it now. */
export async function acquireLease(
  pool: Pool,
  name: string,
  holder: string,
  log: Logger,
  lifeMs = LEASE_MS,
): Promise<Lease | { readonly heldBy: string }> {
  const token = randomUUID()
  for (let tries = 1; ; tries++) {
    if (await takeLease(pool, name, token, holder, lifeMs)) return keepLease(pool, name, token, lifeMs, log)
    const { rows } = await pool.query<{ holder: string; isOver: boolean }>(
      'select holder, expires_at <= clock_timestamp() as "isOver" from ferry.leases where name = $1',
      [name],
    )
    const [held] = rows
    if (!held?.isOver || tries === MOMENTS)
      return { heldBy: held?.holder ?? 'a worker that has just finished' }
    await delay(A_MOMENT_MS)
  }
}

/** One that ran out is locked by the work it is for, or for a moment by whoever looks for lost runs. */
const A_MOMENT_MS = 100
const MOMENTS = 3

/** Whoever applies work or claims a batch under the lease keeps it from being taken over, whatever its time. */
async function takeLease(
  pool: Pool,
  name: string,
  token: string,
  holder: string,
  lifeMs: number,
): Promise<boolean> {
  const taken = await pool.query(
    `with free as (
       select name from ferry.leases where name = $1 and expires_at <= clock_timestamp() for update skip locked
     ), taken as (
       update ferry.leases l set token = $2, holder = $3, acquired_at = clock_timestamp(),
         expires_at = clock_timestamp() + $4 * interval '1 ms'
       from free where l.name = free.name returning 1
     ), added as (
       insert into ferry.leases (name, token, holder, acquired_at, expires_at)
       select $1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms'
       where not exists (select from taken) on conflict do nothing returning 1
     )
     select from taken union all select from added`,
    [name, token, holder, lifeMs],
  )
  return taken.rowCount === 1
}

function keepLease(pool: Pool, name: string, token: string, lifeMs: number, log: Logger): Lease {
  const lost = new AbortController()
  let released = false
  let timer = setTimeout(renewAgain, lifeMs / RENEWALS)

  /** One at a time: renewals that wait for an answer must not take one connection after another. */
  async function renewAgain(): Promise<void> {
    let waitMs = lifeMs / RENEWALS
    try {
      const state = await renewLease(pool, name, token, lifeMs)
      if (state === 'lost') return lost.abort(new LeaseLost(`the lease ${name} ran out`))
      if (state === 'in use') waitMs = lifeMs / TRIES
    } catch (error) {
      // The database may be back before the lease is out; if not, the check at the end refuses the work.
      log[isPassing(error) ? 'debug' : 'warn'](
        { error: reasonOf(error), lease: name },
        'a lease could not be renewed',
      )
      waitMs = lifeMs / TRIES
    }
    if (!released) timer = setTimeout(renewAgain, waitMs)
  }

  return {
    name,
    token,
    signal: lost.signal,
    async release() {
      released = true
      clearTimeout(timer)
      try {
        await pool.query('delete from ferry.leases where name = $1 and token = $2', [name, token])
      } catch (error) {
        log[isPassing(error) ? 'debug' : 'warn'](
          { error: reasonOf(error), lease: name },
          'a lease could not be given up; it runs out by itself',
        )
      }
    },
  }
}

/**
 * `in use`: its row is locked, by the work it is for or for a moment by others. One that ran out is renewed all the same
 * as long as nobody has taken it over: a process that stood still for a while need not begin again.
 */
async function renewLease(
  pool: Pool,
  name: string,
  token: string,
  lifeMs: number,
): Promise<'renewed' | 'in use' | 'lost'> {
  const { rows } = await queryWithin<{ state: 'renewed' | 'in use' | 'lost' }>(
    pool,
    lifeMs / RENEWALS,
    `with mine as (
       select name from ferry.leases where name = $1 and token = $2 for no key update skip locked
     ), renewed as (
       update ferry.leases l set expires_at = clock_timestamp() + $3 * interval '1 ms'
       from mine where l.name = mine.name returning 1
     )
     select case when exists (select from renewed) then 'renewed' when exists (select from ferry.leases where name = $1 and token = $2) then 'in use' else 'lost' end as state`,
    [name, token, lifeMs],
  )
  return rows[0]?.state ?? 'lost'
}

/**
 * Locks the lease's row until the transaction ends, so that nobody takes it over meanwhile, however long that takes.
 * Throws `LeaseLost` if the token no longer counts.
 */
export async function fenceWithLease(
  client: PoolClient,
  lease: Pick<Lease, 'name' | 'token'>,
): Promise<void> {
  const { rowCount } = await client.query(
    'select from ferry.leases where name = $1 and token = $2 and expires_at > clock_timestamp() for update',
    [lease.name, lease.token],
  )
  if (rowCount !== 1) throw new LeaseLost(`the lease ${lease.name} ran out before the work was applied`)
}
