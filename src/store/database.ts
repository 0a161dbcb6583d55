import { type ClientBase, Pool, type PoolClient, type QueryResult, type QueryResultRow } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { type DatabaseAddress, isOfConnection, openAwayLog, PostgresAway } from './postgres-away.ts'
import { WatchedClient } from './watched-client.ts'

/** The database, closed by disposing of it. */
export type Database = { readonly pool: Pool; [Symbol.asyncDispose](): Promise<void> }

/**
 * How many connections a process needs that does so many things at once which hold one for long (they compare or apply an
 * inventory, or begin an import). The throttle, leases and slots, and the claims and outcomes of imports, milliseconds
 * each, share the others. `doctor` adds up what a process takes.
 */
export function poolSizeOf(workerConcurrency: number): number {
  return 12 + workerConcurrency
}

export type DatabaseOptions = {
  /** Where the address comes from, for errors. */
  readonly setting?: string
  readonly poolSize?: number
}

/** Opens a pool on `url`; connections are made when first needed and made anew after the server was restarted. */
export function openDatabase(
  url: string,
  log: Logger,
  { setting = 'DATABASE_URL', poolSize = poolSizeOf(4) }: DatabaseOptions = {},
): Database {
  const pool = new FerryPool({ url, setting }, poolSize, log)
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

/** Runs `work` in one transaction on one connection: all of it, or nothing. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  if (!(pool instanceof FerryPool)) throw new Error('a transaction needs a pool that openDatabase made')
  return pool.use(client => transact(client, () => work(client)))
}

/** A statement that is to be answered within `ms`; if not, its connection is thrown away. For those known to be short. */
export function queryWithin<Row extends QueryResultRow>(
  pool: Pool,
  ms: number,
  text: string,
  values: unknown[],
): Promise<QueryResult<Row>> {
  const query = { text, values, query_timeout: ms }
  return pool.query<Row>(query)
}

/** What is found out about each new connection. */
type Found = { readonly pid: number; readonly isReadCommitted: boolean; readonly isReadOnly: boolean }

/**
 * A pool on which every statement is READ COMMITTED, whatever the default of the database is: the throttle has to count
 * what others committed while it waited for a lock. It is set with the transaction, not on the session, which a pooler
 * may share.
 */
class FerryPool extends Pool {
  readonly #address: DatabaseAddress
  readonly #awayLog: ReturnType<typeof openAwayLog>
  readonly #found = new WeakMap<PoolClient, Found & { readonly openedAtMs: number }>()

  constructor(address: DatabaseAddress, max: number, log: Logger) {
    super({
      connectionString: address.url,
      max,
      application_name: 'ferry',
      connectionTimeoutMillis: 10_000,
      Client: WatchedClient,
      verify: (client, done) => void this.#examine(client).then(() => done(), done),
    })
    this.#address = address
    this.#awayLog = openAwayLog(log)
    // An idle connection that breaks (the server was restarted) is replaced at its next use.
    this.on('error', error => log.debug({ error: reasonOf(error) }, 'an idle database connection was lost'))
  }

  override query = ((...args: [string, unknown[]?]) =>
    this.use(client => {
      const work = () => client.query(...args)
      return this.#found.get(client)?.isReadCommitted === false ? transact(client, work) : work()
    })) as Pool['query']

  /**
   * Lends `work` a connection. After a failure it may be anywhere (in the middle of a COPY, say), or lead to a server
   * that is no longer the one to write to: it is not used again.
   */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect().catch(error => {
      throw this.#away(error)
    })
    let isBroken = false
    const broke = () => {
      isBroken = true
    }
    client.on('error', broke)
    let failure: Error | undefined
    try {
      const result = await work(client)
      const found = this.#found.get(client)
      if (found) this.#awayLog.worked(found)
      return result
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      throw isBroken || isOfConnection(error) ? this.#away(error) : error
    } finally {
      client.off('error', broke)
      client.release(failure)
    }
  }

  async #examine(client: PoolClient): Promise<void> {
    const { rows } = await client.query<Found>(
      `select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as "isReadOnly",
         current_setting('default_transaction_isolation') = 'read committed' as "isReadCommitted"`,
    )
    const [found] = rows
    if (!found) throw new Error('Postgres does not say who it is')
    this.#found.set(client, { ...found, openedAtMs: performance.now() })
    if (client instanceof WatchedClient) client.servedBy(found.pid)
  }

  #away(error: unknown): PostgresAway {
    const away = error instanceof PostgresAway ? error : new PostgresAway(this.#address, error)
    this.#awayLog.failed(away)
    return away
  }
}

/**
 * A lock never granted, or a worker suspended inside a transaction, must not hold others up for ever; nor may the locks
 * of a machine that is gone, of which only TCP can tell. Set in the transaction, not on the session, which a pooler may
 * share. Not every system has the settings of the last statement.
 */
const BEGIN = `
  begin isolation level read committed;
  set local lock_timeout = '60s';
  set local idle_in_transaction_session_timeout = '60s';
  select pg_backend_pid() as pid, now()::text as began;
  select set_config(name, value, true) from (values ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
    ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '30s'), ('client_connection_check_interval', '10s')
  ) as settings (name, value) where version() ~ 'linux'`

/** Runs `work` in one transaction of a connection at hand. */
export async function transact<T>(client: ClientBase, work: () => Promise<T>): Promise<T> {
  try {
    const results = (await client.query(BEGIN)) as unknown as { rows: { pid: number; began: string }[] }[]
    const open = results.flatMap(({ rows }) => rows).find(row => 'began' in row)
    if (client instanceof WatchedClient) client.transaction = open ?? null
    const result = await work()
    await client.query('commit')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {})
    throw error
  } finally {
    if (client instanceof WatchedClient) client.transaction = null
  }
}
