import { Client, type ClientConfig, DatabaseError } from 'pg'

/*
 * A connection can go silent: after a failover, behind a NAT or a load balancer that forgot it, nothing comes any more
 * and nobody says so. TCP gives up after a quarter of an hour only, and a statement may well take long by itself. So:
 *
 *     in flight, and not a byte has moved for 15 s ──► ask the server by another connection
 *         at work on it ─► wait on      not at work on it, or out of reach ─► the connection is cut
 *
 * The transaction of a connection that is cut is ended on the server too, with all its locks.
 */

/** A connection to Postgres went silent and was cut. What was under way on it fails, and may be repeated. */
export class ConnectionSilent extends Error {
  override readonly name = 'ConnectionSilent'
  /** As if TCP itself had given up. */
  readonly code = 'ETIMEDOUT'
}

/** How often a connection is looked at; counted in looks, so that a process that stood still blames nobody. */
const LOOK_EVERY_MS = 5_000
/** After so many looks at which nothing had moved the server is asked. */
const LOOKS_UNTIL_ASKED = 3
/** After so many, a connection of which the server cannot tell (a pooler's, or no connection is left) is cut. */
const LOOKS_UNTIL_CUT = 8
/** The server is to answer a new connection within this. */
const ANSWER_WITHIN_MS = 5_000

/** How long a connection may take to say goodbye: a silent one never does, and would keep the process up. */
const END_WITHIN_MS = 2_000

/** An open transaction, by the process that serves it and its start: behind a pooler too, it is one and the same. */
export type OpenTransaction = { readonly pid: number; readonly began: string }

/** A client whose connection does not stay silent for long. Give it to a `Pool` as its `Client`, or use it alone. */
export class WatchedClient extends Client {
  /** Set by whoever opens one, for as long as it is open. */
  transaction: OpenTransaction | null = null
  readonly #config: ClientConfig
  /** The process that serves this connection always; null if a pooler is in between. */
  #servedBy: number | null = null
  #moved = ''
  #stillLooks = 0
  #isAsking = false

  constructor(config: ClientConfig = {}) {
    super({ keepAlive: true, keepAliveInitialDelayMillis: 10_000, ...config })
    this.#config = config
    // What breaks fails the query under way; without a listener it would end the process.
    this.on('error', () => {})
    const timer = setInterval(() => this.#look(), LOOK_EVERY_MS).unref()
    this.connection.once('end', () => clearInterval(timer))
  }

  override end = ((callback?: (error: Error) => void) => {
    setTimeout(() => this.connection.stream.destroy(), END_WITHIN_MS).unref()
    return callback ? super.end(callback) : super.end()
  }) as Client['end']

  /** Says which process answers. A pooler has said hello with another number. */
  servedBy(pid: number): void {
    this.#servedBy = pid === stateOf(this).processID ? pid : null
  }

  #look(): void {
    const { isInFlight, bytesRead, bytesWritten } = stateOf(this)
    const moved = `${bytesRead} ${bytesWritten}`
    if (!isInFlight || moved !== this.#moved) this.#stillLooks = 0
    else this.#stillLooks += 1
    this.#moved = moved
    if (this.#stillLooks < LOOKS_UNTIL_ASKED || this.#isAsking) return
    this.#isAsking = true
    void this.#ask().finally(() => {
      this.#isAsking = false
    })
  }

  async #ask(): Promise<void> {
    const isSilent = await this.#isAbandoned()
    const stillStands = this.#stillLooks >= LOOKS_UNTIL_ASKED && stateOf(this).isInFlight
    if (!stillStands || isSilent === false) return
    if (isSilent === null && this.#stillLooks < LOOKS_UNTIL_CUT) return
    this.connection.stream.destroy(
      new ConnectionSilent('the connection went silent and was cut; the server is not at work on it'),
    )
  }

  /** Whether the server is not at work for this connection; null if it cannot be told. Ends its transaction then. */
  async #isAbandoned(): Promise<boolean | null> {
    const { transaction } = this
    const pid = transaction?.pid ?? this.#servedBy
    const other = new Client({
      ...this.#config,
      application_name: 'ferry watch',
      connectionTimeoutMillis: ANSWER_WITHIN_MS,
      query_timeout: ANSWER_WITHIN_MS,
    })
    other.on('error', () => {})
    try {
      await other.connect()
      const { rows } = await other.query<{ is_at_work: boolean }>(IS_AT_WORK, [pid, transaction?.began])
      if (rows[0]?.is_at_work) return false
      if (transaction) await other.query(END_TRANSACTION, [transaction.pid, transaction.began])
      return pid === null ? null : true
    } catch (error) {
      // It answers, but has no connection left for the question. One that starts or stops has forgotten ours.
      return error instanceof DatabaseError && !error.code?.startsWith('57P') ? null : true
    } finally {
      await other.end().catch(() => {})
    }
  }
}

/** One that reads from its client, or writes to it, waits for what got lost on the way. */
const IS_AT_WORK = `
  select state = 'active' and wait_event_type is distinct from 'Client' as is_at_work from pg_stat_activity
  where pid = $1 and usename = current_user and ($2::timestamptz is null or xact_start = $2)`

const END_TRANSACTION = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where pid = $1 and usename = current_user and xact_start = $2`

type State = {
  readonly isInFlight: boolean
  readonly bytesRead: number
  /** Those that the system took: what waits in this process has not moved. */
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
    // Undefined until the connection is made, which has a time limit of its own.
    isInFlight: readyForQuery === false,
    bytesRead: stream.bytesRead ?? 0,
    bytesWritten: (stream.bytesWritten ?? 0) - stream.writableLength,
    processID,
  }
}
