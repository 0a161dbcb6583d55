import type { Pool, PoolClient } from 'pg'
import type { WorkLimit } from '#src/model/work-limit.ts'
import { inTransaction } from './pool.ts'

/** A transaction that stays open between pieces of work. Each throws the error of a piece before it that failed. */
export type LongTransaction = {
  run<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  /** Runs the last piece, and resolves when all is committed. */
  end<T>(work: (client: PoolClient) => Promise<T>): Promise<T>
  rollBack(): Promise<void>
}

/** Well below the time after which Postgres ends an idle transaction, see `transact`, and that of a silent connection. */
const SHOW_LIFE_EVERY_MS = 5_000

class RolledBack extends Error {}

type TransactionOptions = {
  /** Ends what a piece of work left under way. */
  readonly settle?: () => Promise<void>
  /** Ends the wait for its turn. */
  readonly signal?: AbortSignal
  readonly showLifeEveryMs?: number
}

/**
 * Begins a transaction that stays open, as long as this process runs: Postgres ends that of a suspended one after a
 * minute, so that it does not block others. Every few seconds something is asked of the connection.
 */
export async function beginTransaction(
  pool: Pool,
  limitWork: WorkLimit,
  { settle = async () => {}, signal, showLifeEveryMs = SHOW_LIFE_EVERY_MS }: TransactionOptions = {},
): Promise<LongTransaction> {
  const begun = Promise.withResolvers<PoolClient>()
  const over = Promise.withResolvers<void>()
  const showLife = async (client: PoolClient) => {
    await settle()
    await client.query('select')
  }
  const stayOpen = () =>
    inTransaction(pool, async client => {
      const timer = setInterval(() => run(showLife).catch(() => {}), showLifeEveryMs)
      begun.resolve(client)
      await over.promise.finally(() => clearInterval(timer))
    })
  const done = limitWork(stayOpen, signal)
  done.catch(begun.reject)
  /** The last piece. They run one after the other. */
  let last: Promise<unknown> = begun.promise
  const client = await begun.promise

  function run<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const piece = last.then(() => work(client))
    last = piece
    // The error of the transaction is that of the piece; one of a lost connection names the server.
    return piece.catch(async error => {
      over.reject(error)
      await done
      throw error
    })
  }

  return {
    run,
    async end(work) {
      const result = await run(work)
      over.resolve()
      await done
      return result
    },
    async rollBack() {
      await last.catch(() => {})
      over.reject(new RolledBack())
      await done.catch(() => {})
    },
  }
}
