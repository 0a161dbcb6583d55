import { randomUUID } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/**
 * A lease says who works: one row a name, with a token that only its holder knows and a time by the database's
 * clock. A worker that dies leaves a lease that runs out; one that was suspended finds that its token no longer
 * counts, and its work is refused (the token is checked inside the transaction that applies the work).
 *
 * 15 s: long enough that a pause for garbage or a heavy parse costs nothing, short enough that work goes on soon
 * after a crash. Renewed every 5 s, so two renewals may fail.
 */
export const LEASE_MS = 15_000

/** A lease is renewed three times in its life. */
const RENEWALS = 3

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
  const taken = await pool.query(
    `insert into ferry.leases as l (name, token, holder, acquired_at, expires_at)
     values ($1, $2, $3, clock_timestamp(), clock_timestamp() + $4 * interval '1 ms')
     on conflict (name) do update set token = excluded.token, holder = excluded.holder,
       acquired_at = excluded.acquired_at, expires_at = excluded.expires_at
     where l.expires_at <= clock_timestamp()`,
    [name, token, holder, lifeMs],
  )
  if (taken.rowCount === 1) return keepLease(pool, name, token, lifeMs, log)
  const held = await pool.query<{ holder: string }>('select holder from ferry.leases where name = $1', [name])
  return { heldBy: held.rows[0]?.holder ?? 'a worker that has just finished' }
}

function keepLease(pool: Pool, name: string, token: string, lifeMs: number, log: Logger): Lease {
  const lost = new AbortController()
  const timer = setInterval(() => {
    renewLease(pool, name, token, lifeMs).then(
      kept => {
        if (!kept) lost.abort(new LeaseLost(`the lease ${name} ran out`))
      },
      // The database may be back before the lease is out; if not, the check at the end refuses the work.
      error => log.warn({ error: reasonOf(error), lease: name }, 'a lease could not be renewed'),
    )
  }, lifeMs / RENEWALS)
  return {
    name,
    token,
    signal: lost.signal,
    async release() {
      clearInterval(timer)
      try {
        await pool.query('delete from ferry.leases where name = $1 and token = $2', [name, token])
      } catch (error) {
        log.warn(
          { error: reasonOf(error), lease: name },
          'a lease could not be given up; it runs out by itself',
        )
      }
    },
  }
}

async function renewLease(pool: Pool, name: string, token: string, lifeMs: number): Promise<boolean> {
  const renewed = await pool.query(
    `update ferry.leases set expires_at = clock_timestamp() + $3 * interval '1 ms'
     where name = $1 and token = $2 and expires_at > clock_timestamp()`,
    [name, token, lifeMs],
  )
  return renewed.rowCount === 1
}

/**
 * Locks the lease's row until the transaction ends, so that nobody takes it over meanwhile.
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
