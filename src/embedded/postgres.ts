import { setTimeout as delay } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { findBinaries } from './binaries.ts'
import { closeEmbeddedPostgres, type Opened, STOP_WITHIN_MS } from './closing.ts'
import { ensureCluster, filesIn, loadPassword, SUPERUSER } from './cluster.ts'
import { connect, type Login, PRESENT, urlOf } from './connection.ts'
import { NoPostgresYet, PostgresNotRunning } from './errors.ts'
import { withDirectoryLock } from './lock.ts'
import { expectSameMajor } from './major.ts'
import { DATABASE, ensureOwner } from './owner.ts'
import { choosePlacement, isPostgresIn, makeDataDir, type Placement } from './placement.ts'
import { Presence } from './presence.ts'
import { findPostmaster, startServer, stopServer } from './server.ts'

/*
 * A real Postgres in a directory, shared by all Ferry processes that open the directory.
 *
 *   open:   lock ─ choose place and user ─ initialise once ─ start, or find it running ─ connect ─ unlock
 *   close:  lock ─ is anyone else connected? ─ no: stop it ─ unlock
 *
 * The server is not a child of any Ferry: if a Ferry is killed, the server keeps running and the next one finds it. Each
 * Ferry keeps one connection open, so the last one that closes can see that it is the last. The lock keeps others from
 * connecting at that moment.
 */

/** How long to wait for a server that recovers from a crash, and how long to repeat a start that fails. */
const READY_WITHIN_MS = 60_000
const RETRY_START_FOR_MS = 3_000
const TRY_EVERY_MS = 100
/** Longer than another process takes to open it. */
const LOCK_WITHIN_MS = READY_WITHIN_MS + 10_000

export type EmbeddedPostgres = {
  /** As the owner of the database, not as a superuser. Contains the password: never log it. */
  readonly url: string
  /** False if it was running already. */
  readonly startedHere: boolean
  /** In words for people: as which user it runs, where, and why. */
  readonly how: string
  /** Resolves if the server ends before it is closed here: what happened, and what to do. */
  readonly ended: Promise<PostgresNotRunning>
  /** Stops the server, even one that another process started, unless others are connected. Takes 15 s at most. Never throws. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a Postgres with its files in `dataDir` and a database `ferry`, empty at first.
 *
 * Creates it (unless `create` is false) and starts it if it does not run. Any number of processes may open the same
 * directory at once. Throws `NoPostgresYet`, `PostgresOfOtherMajor`, `PostgresBinariesMissing`, `PostgresNotRunning` or
 * `DataDirUnusable`; all say what to do.
 */
export async function openEmbeddedPostgres(options: {
  dataDir: string
  log: Logger
  create?: boolean
  /** Ends the wait for another process that opens or closes it. */
  signal?: AbortSignal
}): Promise<EmbeddedPostgres> {
  const { log, signal, create = true } = options
  if (!create && !isPostgresIn(options.dataDir)) throw new NoPostgresYet(options.dataDir)
  const binaries = await findBinaries()
  const dataDir = await makeDataDir(options.dataDir)

  return withDirectoryLock(dataDir, { retryForMs: LOCK_WITHIN_MS, log, signal }, async () => {
    const placement = await choosePlacement(dataDir, binaries)
    await expectSameMajor(placement)
    await ensureCluster(placement)
    const password = await loadPassword(placement.home)
    const { login, startedHere, client } = await new Starting(placement, password, log).untilReady()
    const again = (port: number) => connect(PRESENT, { port, user: SUPERUSER, password }, log)
    const presence = new Presence(client, placement.home, again)
    log.info({ port: login.port, startedHere, how: placement.how }, 'The embedded Postgres is ready.')

    return new OpenPostgres({ dataDir, placement, password, presence, log }, login, startedHere)
  })
}

class OpenPostgres implements EmbeddedPostgres {
  readonly url: string
  readonly startedHere: boolean
  readonly how: string
  readonly ended: Promise<PostgresNotRunning>
  readonly #opened: Opened
  #closing: Promise<void> | undefined

  constructor(opened: Opened, login: Login, startedHere: boolean) {
    const { placement, presence } = opened
    this.#opened = opened
    this.url = urlOf({ ...login, database: DATABASE })
    this.startedHere = startedHere
    this.how = placement.how
    this.ended = presence.ended
  }

  close(): Promise<void> {
    this.#closing ??= closeEmbeddedPostgres(this.#opened)
    return this.#closing
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }
}

type Server = {
  /** As the owner of the database. */
  readonly login: Login
  readonly startedHere: boolean
  readonly client: Client
}

/** Starts the server, or waits until a running one is ready, and connects. */
class Starting {
  readonly #placement: Placement
  readonly #password: string
  readonly #log: Logger
  #startedHere = false
  /** When a start failed first. */
  #failedAtMs: number | undefined
  #lastRefusal: unknown

  constructor(placement: Placement, password: string, log: Logger) {
    this.#placement = placement
    this.#password = password
    this.#log = log
  }

  async untilReady(): Promise<Server> {
    const { home, how } = this.#placement
    const giveUpAtMs = performance.now() + READY_WITHIN_MS
    while (performance.now() < giveUpAtMs) {
      const found = await findPostmaster(home)
      const server = found?.status === 'ready' ? await this.#connect(found.port) : undefined
      if (server) return server
      if (!found && (await this.#start())) continue
      await delay(TRY_EVERY_MS)
    }
    throw new PostgresNotRunning(`Postgres was not ready within ${READY_WITHIN_MS / 1000} s, ${how}.`, {
      whatToDo: `It may still be recovering from a crash. Try again, and read ${filesIn(home).log}.`,
      cause: this.#lastRefusal,
    })
  }

  /** Returns undefined if the server does not take connections yet. */
  async #connect(port: number): Promise<Server | undefined> {
    try {
      const connected = await connectPresent(this.#password, port, this.#placement, this.#log)
      return { ...connected, startedHere: this.#startedHere }
    } catch (error) {
      if (error instanceof PostgresNotRunning || isPermanent(error)) {
        if (this.#startedHere) await stopServer(this.#placement, STOP_WITHIN_MS) // nobody will close it
        throw error instanceof PostgresNotRunning ? error : refused(this.#placement, error)
      }
      this.#lastRefusal = error
      return undefined
    }
  }

  /** Returns false if it did not start and may be tried again. */
  async #start(): Promise<boolean> {
    const { home, how } = this.#placement
    const lastLines = await startServer(this.#placement)
    if (lastLines === undefined) {
      this.#startedHere = true
      return true
    }
    this.#failedAtMs ??= performance.now()
    if (performance.now() <= this.#failedAtMs + RETRY_START_FOR_MS) return false
    throw new PostgresNotRunning(`Postgres did not start ${how}.`, {
      lastLines,
      whatToDo: `The lines above say why. The whole log is ${filesIn(home).log}.`,
    })
  }
}

/** Whether the server refuses the connection and will not change its mind. One that starts or stops (57P) will. */
function isPermanent(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !error.code?.startsWith('57P')
}

function refused({ home }: Placement, cause: DatabaseError): PostgresNotRunning {
  return new PostgresNotRunning(`The Postgres in ${home} refuses Ferry: ${cause.message}.`, {
    whatToDo:
      'If all its connections are in use, close some. If it refuses the password, the one in ' +
      `${filesIn(home).password} no longer matches the role ${SUPERUSER}.`,
    cause,
  })
}

/** Connects as the superuser, and makes sure that the database and its owner exist. */
async function connectPresent(
  password: string,
  port: number,
  placement: Placement,
  log: Logger,
): Promise<Pick<Server, 'login' | 'client'>> {
  const login = { port, user: SUPERUSER, password }
  const client = await connect(PRESENT, login, log)
  try {
    return { login: await ensureOwner(client, login, placement, log), client }
  } catch (error) {
    void client.end()
    throw error
  }
}
