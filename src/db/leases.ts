import { randomUUID } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import type { Pool, PoolClient } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isTransient } from '#src/model/transient-error.ts'
import { endLease, findHolder, lockLease, renewLease, takeLease } from './lease-rows.ts'

/*
 * A lease gives one worker the right to do a piece of work: a run, an import, a slot. It is one row a name, with a token
 * that only its holder knows and a time by the database's clock. The lease of a worker that dies expires. A worker that
 * was suspended finds that its token no longer counts, and its work is refused: the token is checked inside the
 * transaction that records the work.
 *
 * That transaction keeps the row locked, and a lease whose row is locked is in use, whatever its time says: it is not
 * taken over, and its work is not called lost. Nobody waits for such a lock, which may be held for minutes.
 */

/**
 * Long enough that a pause for garbage or a heavy parse costs nothing, short enough that work goes on soon after a crash.
 * Renewed every 5 s, so two renewals may fail.
 */
export const LEASE_MS = 15_000

/** Renewals of a lease in its life, by default. */
const RENEWALS = 3
/** A renewal that failed, or met a lock, is tried again after this part of the lease's life. */
const TRIES = 15

export type Lease = {
  readonly name: string
  readonly token: string
  /** Aborts once it is known that another worker has the lease. */
  readonly signal: AbortSignal
  /** Gives the lease up. Never fails: a lease that cannot be given up expires. */
  release(): Promise<void>
  /** Stops renewing a lease that a transaction, which is committed now, gave up (`endLease`). */
  wasEnded(): void
}

/** The work took longer than its lease lived. Another worker may be doing it, so it was not applied. */
export class LeaseLost extends Error {
  override readonly name = 'LeaseLost'
}

type Life = { readonly lifeMs: number; readonly renewEveryMs: number }
type Asked = { readonly [Key in keyof Life]?: Life[Key] | undefined }

/**
 * Returns a lease that is renewed until it is released, or who holds it now. A dead worker's lease is free between
 * `lifeMs - renewEveryMs` and `lifeMs` after its death.
 */
export async function acquireLease(
  pool: Pool,
  name: string,
  holder: string,
  log: Logger,
  { lifeMs = LEASE_MS, renewEveryMs = lifeMs / RENEWALS }: Asked = {},
): Promise<Lease | { readonly heldBy: string }> {
  const token = randomUUID()
  for (let tries = 1; ; tries++) {
    if (await takeLease(pool, name, token, holder, lifeMs)) {
      return keepLease(pool, name, token, { lifeMs, renewEveryMs }, log)
    }
    const held = await findHolder(pool, name)
    if (!held?.isExpired || tries === MOMENTS)
      return { heldBy: held?.holder ?? 'a worker that has just finished' }
    await delay(A_MOMENT_MS)
  }
}

/** An expired lease may be locked: by its own work, or briefly by the check for lost runs. */
const A_MOMENT_MS = 100
const MOMENTS = 3

function keepLease(
  pool: Pool,
  name: string,
  token: string,
  { lifeMs, renewEveryMs }: Life,
  log: Logger,
): Lease {
  const tryAgainMs = Math.min(lifeMs / TRIES, renewEveryMs)
  const lost = new AbortController()
  let released = false
  let timer = setTimeout(renewAgain, renewEveryMs)

  /** One at a time: renewals that wait for an answer must not take one connection after another. */
  async function renewAgain(): Promise<void> {
    let waitMs = renewEveryMs
    try {
      const state = await renewLease(pool, name, token, lifeMs, lifeMs / RENEWALS)
      if (state === 'lost') return lost.abort(new LeaseLost(`the lease ${name} expired`))
      if (state === 'in use') waitMs = tryAgainMs
    } catch (error) {
      // Postgres may answer again before the lease expires; if not, the check at the end refuses the work.
      log[isTransient(error) ? 'debug' : 'warn'](
        { error: reasonOf(error), lease: name },
        'A lease could not be renewed.',
      )
      waitMs = tryAgainMs
    }
    if (!released) timer = setTimeout(renewAgain, waitMs)
  }

  function stop(): void {
    released = true
    clearTimeout(timer)
  }

  return {
    name,
    token,
    signal: lost.signal,
    wasEnded: stop,
    async release() {
      if (released) return
      stop()
      try {
        await endLease(pool, { name, token })
      } catch (error) {
        log[isTransient(error) ? 'debug' : 'warn'](
          { error: reasonOf(error), lease: name },
          'A lease could not be given up; it expires by itself.',
        )
      }
    },
  }
}

/**
 * Locks the lease's row until the transaction ends, so that nobody takes it over meanwhile, however long that takes.
 * Throws `LeaseLost` if the token no longer counts.
 */
export async function fenceWithLease(
  client: PoolClient,
  lease: Pick<Lease, 'name' | 'token'>,
): Promise<void> {
  if (!(await lockLease(client, lease)))
    throw new LeaseLost(`the lease ${lease.name} expired before the work was applied`)
}
