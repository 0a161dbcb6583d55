import { type ClientBase, Pool, type PoolClient, type PoolConfig } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { connectWithinMs } from '#src/model/postgres-address.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { Secret } from '#src/model/secret.ts'
import { createOutageLog, type DatabaseAddress, isConnectionError, PostgresUnavailable } from './outage.ts'
import { findOne, type Queryable, rowsOf } from './rows.ts'
import { type ConnectionConfig, OpenTransaction, WatchedClient } from './watched-client.ts'

/** A pool of connections. Disposing of it closes them. */
export type Database = { readonly pool: Pool; [Symbol.asyncDispose](): Promise<void> }

/**
 * Returns how many connections a process needs: one for each of `workerConcurrency` long transactions at a time, and
 * twelve that all others share: statements that take milliseconds each, and as many short transactions at a time.
 */
export function poolSizeOf(workerConcurrency: number): number {
  return 12 + workerConcurrency
}

export type DatabaseOptions = {
  /** The setting that holds the address, for error messages. */
  readonly setting?: string
  /** The password, if the address does not contain it. */
  readonly secret?: Secret | null
  readonly poolSize?: number
  /** A connection or statement that gets no answer within this time fails. By default a statement may take any time. */
  readonly answerWithinMs?: number | undefined
  /** If given, everything on this pool only reads. */
  readonly reading?: Reading
}

/** How a pool that only reads does so. */
export type Reading = {
  /** The role with whose rights it reads, never from input; null: as the user who is connected. */
  readonly role: string | null
  /** A statement that takes longer fails, and the server stops it. If no answer comes, the client gives up a second later. */
  readonly withinMs: number
}

/** Opens a pool on `url`. Connections are opened when they are needed, and again after the server was restarted. */
export function openDatabase(
  url: string,
  log: Logger,
  {
    setting = 'DATABASE_URL',
    secret = null,
    poolSize = poolSizeOf(4),
    answerWithinMs,
    reading,
  }: DatabaseOptions = {},
): Database {
  // A silent connection is noticed much later than a person waits for a page.
  const boundMs = reading ? reading.withinMs + 1_000 : answerWithinMs
  const pool = new FerryPool({ url, setting }, { secret, max: poolSize, ...boundsOf(boundMs) }, log, reading)
  return { pool, [Symbol.asyncDispose]: () => pool.end() }
}

/** Runs `work` in one transaction: all of it is written, or nothing. Throws the error of `work`. */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  if (!(pool instanceof FerryPool)) throw new Error('inTransaction needs a pool from openDatabase')
  return pool.use(client => transact(client, () => work(client), pool.begin))
}

/** The statements with which a transaction begins that only reads, on this pool. */
export function beginReading(pool: Pool): string {
  return pool instanceof FerryPool && pool.reading
    ? readingBegin(pool.reading)
    : 'begin read only; set local statement_timeout = 0'
}

/** Runs `work` in a transaction that only reads. A statement that takes longer than `ms` fails, and the server stops it. */
export function readWithin<T>(pool: Pool, ms: number, work: (client: PoolClient) => Promise<T>): Promise<T> {
  return inTransaction(pool, async client => {
    await client.query(`set transaction read only; set local statement_timeout = ${Math.round(ms)}`)
    return work(client)
  })
}

/**
 * Runs each statement as a transaction, so that it waits for a lock no longer than one. For what is read while another
 * transaction of this process is open: Postgres does not see that each waits for the other if a third one stands between.
 */
export function asTransactions(pool: Pool): Queryable {
  return { query: (text, values) => inTransaction(pool, client => client.query(text, values)) }
}

/** Runs statements that are known to be short. One fails after `ms` without an answer; a pool then discards its connection. */
export function answeringWithin(client: Pool | ClientBase, ms: number): Queryable {
  return {
    query(text, values = []) {
      const query = { text, values, query_timeout: ms }
      return client.query(query)
    },
  }
}

/** A connection that was idle for this long is closed. A worker looks more often for what is due. */
const IDLE_TIMEOUT_MS = 30_000

/** Facts that a new connection reports about its server. */
const ConnectionFacts = z.object({ pid: z.number(), isReadCommitted: z.boolean(), isReadOnly: z.boolean() })
type ConnectionFacts = Readonly<z.infer<typeof ConnectionFacts>>

/**
 * A pool that runs every statement as READ COMMITTED, whatever the database's default is. Code that waits for a lock and
 * then counts must see what others committed meanwhile. The level is set for each transaction, because a pooler may share
 * the session.
 */
class FerryPool extends Pool {
  readonly reading: Reading | null
  /** The statements with which a transaction begins. */
  readonly begin: string
  readonly #address: DatabaseAddress
  readonly #outageLog: ReturnType<typeof createOutageLog>
  readonly #facts = new WeakMap<PoolClient, ConnectionFacts & { readonly openedAtMs: number }>()

  constructor(
    address: DatabaseAddress,
    config: PoolConfig & ConnectionConfig,
    log: Logger,
    reading?: Reading,
  ) {
    super({
      connectionString: address.url,
      application_name: 'ferry',
      connectionTimeoutMillis: connectWithinMs(address.url),
      idleTimeoutMillis: IDLE_TIMEOUT_MS,
      ...config,
      Client: WatchedClient,
      verify: (client, done) => void this.#examine(client).then(() => done(), done),
    })
    this.reading = reading ?? null
    this.begin = reading ? `${readingBegin(reading)}; ${OPEN_FACTS}` : BEGIN
    this.#address = address
    this.#outageLog = createOutageLog(log)
    // The pool replaces an idle connection that broke, as when the server was restarted.
    this.on('error', error => log.debug({ error: reasonOf(error) }, 'An idle database connection was lost.'))
  }

  override query = ((...args: [string, unknown[]?]) =>
    this.use(client => {
      const work = () => client.query(...args)
      const needsTransaction = this.reading || this.#facts.get(client)?.isReadCommitted === false
      return needsTransaction ? transact(client, work, this.begin) : work()
    })) as Pool['query']

  /**
   * Runs `work` with a connection. If `work` fails, the connection is closed: it may be in the middle of a COPY, or lead
   * to a server that no longer takes writes.
   */
  async use<T>(work: (client: PoolClient) => Promise<T>): Promise<T> {
    const client = await this.connect().catch(error => {
      throw this.#unavailable(error, true)
    })
    /** Why the connection was lost, if it was lost between two statements. */
    let lost: Error | null = null
    const onLost = (error: Error) => {
      lost ??= error
    }
    client.on('error', onLost)
    let failure: Error | undefined
    try {
      const result = await work(client)
      const facts = this.#facts.get(client)
      if (facts) this.#outageLog.succeeded(facts)
      return result
    } catch (error) {
      failure = error instanceof Error ? error : new Error(String(error))
      this.#outageLog.refused(error)
      if (isConnectionError(error)) throw this.#unavailable(error, false)
      throw lost ? this.#unavailable(lost, false) : error
    } finally {
      client.off('error', onLost)
      client.release(failure)
    }
  }

  async #examine(client: PoolClient): Promise<void> {
    const facts = await findOne(
      client,
      ConnectionFacts,
      `select pg_backend_pid() as pid, current_setting('transaction_read_only') = 'on' as is_read_only,
         current_setting('default_transaction_isolation') = 'read committed' as is_read_committed`,
    )
    this.#facts.set(client, { ...facts, openedAtMs: performance.now() })
    if (client instanceof WatchedClient) client.servedBy(facts.pid)
  }

  #unavailable(error: unknown, wasUnreached: boolean): PostgresUnavailable {
    const unavailable =
      error instanceof PostgresUnavailable
        ? error
        : new PostgresUnavailable(this.#address, error, wasUnreached)
    this.#outageLog.failed(unavailable)
    return unavailable
  }
}

/**
 * Limits that keep one transaction from blocking others for ever: a lock that is never granted, a worker that is suspended
 * inside its transaction, a machine that is gone (only TCP can notice that). They are set for the transaction, because a
 * pooler may share the session. A statement may take its time, whatever the role or the database has as `statement_timeout`: some
 * are about all rows of a large file. The settings of the last statement exist on Linux only.
 */
const OPEN_FACTS = 'select pg_backend_pid() as pid, now()::text as began'
const BEGIN = `
  begin isolation level read committed;
  set local lock_timeout = '60s';
  set local idle_in_transaction_session_timeout = '60s';
  set local statement_timeout = 0;
  ${OPEN_FACTS};
  select set_config(name, value, true) from (values ('tcp_keepalives_idle', '10'), ('tcp_keepalives_interval', '5'),
    ('tcp_keepalives_count', '3'), ('tcp_user_timeout', '30s'), ('client_connection_check_interval', '10s')
  ) as settings (name, value) where version() ~ 'linux'`

/** A read is short: compiling its statements would take longer than it saves. */
function readingBegin({ role, withinMs }: Reading): string {
  const asRole = role === null ? '' : `; set local role ${role}`
  return `begin isolation level read committed read only; set local jit = off;
    set local statement_timeout = ${Math.round(withinMs)}; set local idle_in_transaction_session_timeout = '60s'${asRole}`
}

function boundsOf(ms: number | undefined): Pick<PoolConfig, 'connectionTimeoutMillis' | 'query_timeout'> {
  return ms === undefined ? {} : { connectionTimeoutMillis: ms, query_timeout: ms }
}

/** Runs `work` in one transaction of an open connection. */
export async function transact<T>(client: ClientBase, work: () => Promise<T>, begin = BEGIN): Promise<T> {
  try {
    // Of several statements there are several results.
    const results = [await client.query(begin)].flat()
    const open = results.find(({ fields }) => fields.some(({ name }) => name === 'began'))
    if (client instanceof WatchedClient && open) [client.transaction = null] = rowsOf(OpenTransaction, open)
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
