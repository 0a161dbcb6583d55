import { Pool, type PoolClient } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'

/** The database, closed by disposing of it. */
export type Database = { readonly pool: Pool; [Symbol.asyncDispose](): Promise<void> }

/**
 * Opens a pool on `url`; connections are made when first needed and made anew after the server was restarted.
 *
 * Sixteen connections: four jobs at once, of which a snapshot syncs two inventories, make eight syncs that hold one
 * each while they apply, and four imports hold one each while they begin; the throttle, leases and slots, and the
 * claims and outcomes of imports, milliseconds each, share the rest. `doctor` adds up what a process takes.
 */
export const POOL_SIZE = 16

export function openDatabase(url: string, log: Logger): Database {
  const pool = new Pool({
    connectionString: url,
    max: POOL_SIZE,
    application_name: 'ferry',
    connectionTimeoutMillis: 10_000,
  })
  // An idle connection that breaks (the server was restarted) is replaced at its next use: worth a line, not a crash.
  pool.on('error', error => log.warn({ error: reasonOf(error) }, 'an idle database connection was lost'))
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

/**
 * A lock never granted, or a worker suspended inside a transaction, must not hold others up for ever. Set in the
 * transaction, not on the session, which a pooler may share.
 */
const BEGIN = `begin; set local lock_timeout = '60s'; set local idle_in_transaction_session_timeout = '60s'`

/** Runs `work` in one transaction on one connection: all of it, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  // A connection that breaks while checked out also fails the query under way; without a listener it would crash.
  const broken = () => {}
  client.on('error', broken)
  let failure: Error | undefined
  try {
    await client.query(BEGIN)
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    failure = error instanceof Error ? error : new Error(String(error))
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    client.off('error', broken)
    // After a failure the connection may be anywhere (in the middle of a COPY, say): it is not used again.
    client.release(failure)
  }
}
