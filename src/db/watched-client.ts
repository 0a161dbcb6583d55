import { Client, type ClientConfig, DatabaseError } from 'pg'
import { z } from 'zod'
import type { Secret } from '#src/model/secret.ts'
import { findColumn } from './rows.ts'

/*
 * A connection can go silent: after a failover, or behind a NAT or load balancer that forgot it, no data arrives and no
 * error either. TCP gives up only after 15 minutes. A long statement looks the same. So:
 *
 *     a statement is in flight and no byte has moved for 15 s ──► ask the server over another connection
 *         the server is working on it ─► keep waiting      it is not, or it cannot be reached ─► cut the connection
 *
 * When a connection is cut, its transaction is ended on the server too, with all its locks.
 */

/** A connection to Postgres went silent and was cut. Its statement fails, and may be repeated. */
export class ConnectionSilent extends Error {
  override readonly name = 'ConnectionSilent'
  /** The code of a TCP timeout: callers treat both alike. */
  readonly code = 'ETIMEDOUT'
}

/**
 * Interval of the checks of a connection. Limits count checks, not time: a process that was suspended must not cut a
 * connection.
 */
const CHECK_EVERY_MS = 5_000
/** The server is asked after this many checks without a byte. */
const CHECKS_UNTIL_ASKED = 3
/** The connection is cut after this many if the server cannot tell (a pooler is between, or no connection is left). */
const CHECKS_UNTIL_CUT = 8
/** The time limit for the other connection and for each statement on it. */
const ANSWER_WITHIN_MS = 5_000

/** The time limit for closing a connection. A silent one never closes, and would keep the process running. */
const END_WITHIN_MS = 2_000

/** Identifies an open transaction by its server process and its start. Both are right behind a pooler too. */
export const OpenTransaction = z.object({ pid: z.number(), began: z.string() })
export type OpenTransaction = Readonly<z.infer<typeof OpenTransaction>>

/** `secret` is the password, if the address does not contain it. */
export type ConnectionConfig = ClientConfig & { readonly secret?: Secret | null | undefined }

/** Has a client ask for its password when it connects: each connection has the one of that moment. */
export function askForPassword(client: Client, { secret }: ConnectionConfig): void {
  if (secret) Object.assign(client, { password: () => secret.reveal() })
}

/** A client that cuts its connection when it goes silent. Give it to a `Pool` as its `Client`, or use it alone. */
export class WatchedClient extends Client {
  /** Set by `transact` while a transaction is open. */
  transaction: OpenTransaction | null = null
  readonly #config: ConnectionConfig
  /** The server process of this connection; null behind a pooler, where it changes. */
  #servedBy: number | null = null
  #lastBytes = ''
  #checksWithoutBytes = 0
  #isAsking = false

  constructor(config: ConnectionConfig = {}) {
    super({ keepAlive: true, keepAliveInitialDelayMillis: 10_000, ...config })
    this.#config = config
    askForPassword(this, config)
    // An error fails the statement in flight. Without a listener it would end the process.
    this.on('error', () => {})
    const timer = setInterval(() => this.#check(), CHECK_EVERY_MS).unref()
    this.connection.once('end', () => clearInterval(timer))
  }

  override end = ((callback?: (error: Error) => void) => {
    setTimeout(() => this.connection.stream.destroy(), END_WITHIN_MS).unref()
    return callback ? super.end(callback) : super.end()
  }) as Client['end']

  /** pg reads times in the ISO style only, but a database or a role may have another one. Poolers know this parameter. */
  protected getStartupConf(): StartupConf {
    return { ...(Client.prototype as unknown as WithStartupConf).getStartupConf.call(this), DateStyle: 'ISO' }
  }

  /** Tells the client which server process answers. A pooler announced another number when it accepted the connection. */
  servedBy(pid: number): void {
    this.#servedBy = pid === stateOf(this).processID ? pid : null
  }

  #check(): void {
    const { isInFlight, bytesRead, bytesWritten } = stateOf(this)
    const bytes = `${bytesRead} ${bytesWritten}`
    if (!isInFlight || bytes !== this.#lastBytes) this.#checksWithoutBytes = 0
    else this.#checksWithoutBytes += 1
    this.#lastBytes = bytes
    if (this.#checksWithoutBytes < CHECKS_UNTIL_ASKED || this.#isAsking) return
    this.#isAsking = true
    void this.#cutIfAbandoned().finally(() => {
      this.#isAsking = false
    })
  }

  async #cutIfAbandoned(): Promise<void> {
    const isAbandoned = await this.#isAbandoned()
    const isStillSilent = this.#checksWithoutBytes >= CHECKS_UNTIL_ASKED && stateOf(this).isInFlight
    if (!isStillSilent || isAbandoned === false) return
    if (isAbandoned === null && this.#checksWithoutBytes < CHECKS_UNTIL_CUT) return
    const why = isAbandoned ? 'the server is not working on it' : 'the server could not be asked what it does'
    this.connection.stream.destroy(new ConnectionSilent(`the connection went silent and was cut; ${why}`))
  }

  /**
   * Asks the server whether it is working for this connection. Returns true if it is not, and ends the transaction; null
   * if the server cannot tell.
   */
  async #isAbandoned(): Promise<boolean | null> {
    const { transaction } = this
    const pid = transaction?.pid ?? this.#servedBy
    const other = new Client({
      ...this.#config,
      application_name: 'ferry watch',
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
    })
    askForPassword(other, this.#config)
    other.on('error', () => {})
    let isAnswered = false
    try {
      await other.connect()
      isAnswered = true
      const [isWorking] = await findColumn(other, z.boolean().nullable(), IS_WORKING, [
        pid,
        transaction?.began,
      ])
      if (isWorking) return false
      if (transaction) await other.query(END_TRANSACTION, [transaction.pid, transaction.began])
      return pid === null ? null : true
    } catch (error) {
      // An answer means that no connection is left for the question; a pooler lets it wait for one. A server that starts or
      // stops (57P) has lost ours.
      if (error instanceof DatabaseError) return error.code?.startsWith('57P') ? true : null
      return isAnswered ? null : true
    } finally {
      await other.end().catch(() => {})
    }
  }
}

/** What a connection tells the server at its start; not in the types of pg. */
type StartupConf = Readonly<Record<string, string>>
type WithStartupConf = { getStartupConf(): StartupConf }

/** A process that waits for its client (`Client`) waits for bytes that were lost. */
const IS_WORKING = `
  select state = 'active' and wait_event_type is distinct from 'Client' as is_working from pg_stat_activity
  where pid = $1 and usename = current_user and ($2::timestamptz is null or xact_start = $2)`

const END_TRANSACTION = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid = $1 and usename = current_user and xact_start = $2`

type State = {
  readonly isInFlight: boolean
  readonly bytesRead: number
  /** Bytes that the system took. Those that still wait in this process do not count. */
  readonly bytesWritten: number
  readonly processID: number | null
}

function stateOf(client: Client): State {
  const { readyForQuery, processID = null } = client as Client & {
    readyForQuery?: boolean
    processID?: number | null
  }
  const { stream } = client.connection as unknown as {
    stream: { bytesRead?: number; bytesWritten?: number; writableLength: number }
  }
  return {
    // Undefined until the connection is open, which has its own time limit.
    isInFlight: readyForQuery === false,
    bytesRead: stream.bytesRead ?? 0,
    bytesWritten: (stream.bytesWritten ?? 0) - stream.writableLength,
    processID,
  }
}
