import { setTimeout as delay } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { findBinaries } from './binaries.ts'
import { closeEmbeddedPostgres } from './closing.ts'
import { ensureCluster, filesIn, loadPassword, SUPERUSER } from './cluster.ts'
import { connect, type Login, PRESENT, urlOf } from './connection.ts'
import { makeDataDir } from './data-dir.ts'
import { endOf } from './ended.ts'
import { NoPostgresYet, PostgresNotRunning } from './errors.ts'
import { withDirectoryLock } from './lock.ts'
import { DATABASE, ensureOwner } from './owner.ts'
import { choosePlacement, isPostgresIn, type Placement } from './placement.ts'
import { findPostmaster, startServer } from './server.ts'

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
/** Longer than another process takes to open it. */
const LOCK_WITHIN_MS = READY_WITHIN_MS + 10_000

export type EmbeddedPostgres = {
  /** As the owner of the database, who is no superuser. Contains the password: never log it. */
  readonly url: string
  /** False if it was running already. */
  readonly startedHere: boolean
  /** In words for people: as which user it runs, where, and why. */
  readonly how: string
  /** Resolves if the server ends before it is closed here: what happened, and what to do. */
  readonly ended: Promise<PostgresNotRunning>
  /** Stops the server, whoever started it, unless others are connected. Takes 15 s at most. Never throws. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * Opens a Postgres with its files in `dataDir` and a database `ferry`, empty at first.
 *
 * Creates it (unless `create` is false) and starts it if it does not run. Any number of processes may open the same
 * directory at once. Throws `NoPostgresYet`, `PostgresBinariesMissing`, `PostgresNotRunning` or `DataDirUnusable`; all say
 * what to do.
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
    await ensureCluster(placement)
    const password = await loadPassword(placement.home)
    const { login, startedHere, presence } = await ensureServer(placement, password, log)
    log.info({ port: login.port, startedHere, how: placement.how }, 'The embedded Postgres is ready.')

    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= closeEmbeddedPostgres({ dataDir, placement, password, presence, log })
      return closing
    }
    const url = urlOf({ ...login, database: DATABASE })
    const ended = endOf(presence, placement.home, () => closing !== undefined)
    return { url, startedHere, ended, how: placement.how, close, [Symbol.asyncDispose]: close }
  })
}

type Server = {
  /** As the owner of the database. */
  readonly login: Login
  readonly startedHere: boolean
  readonly presence: Client
}

/** Starts the server, or waits until a running one is ready, and connects. */
async function ensureServer(placement: Placement, password: string, log: Logger): Promise<Server> {
  const { home, how } = placement
  const giveUpAt = performance.now() + READY_WITHIN_MS
  let startedHere = false
  let failingSince: number | undefined
  let lastRefusal: unknown
  while (performance.now() < giveUpAt) {
    const found = await findPostmaster(home)
    if (found?.status === 'ready') {
      try {
        return { ...(await connectPresent(password, found.port, placement, log)), startedHere }
      } catch (error) {
        if (error instanceof PostgresNotRunning) throw error
        if (isPermanent(error)) throw refused(placement, error)
        lastRefusal = error
      }
    } else if (!found) {
      const lastLines = await startServer(placement)
      if (lastLines === undefined) {
        startedHere = true
        continue
      }
      failingSince ??= performance.now()
      if (performance.now() > failingSince + RETRY_START_FOR_MS) {
        throw new PostgresNotRunning(`Postgres did not start ${how}.`, {
          lastLines,
          whatToDo: `The lines above say why. The whole log is ${filesIn(home).log}.`,
        })
      }
    }
    await delay(100)
  }
  throw new PostgresNotRunning(`Postgres was not ready within ${READY_WITHIN_MS / 1000} s, ${how}.`, {
    whatToDo: `It may still be recovering from a crash. Try again, and read ${filesIn(home).log}.`,
    cause: lastRefusal,
  })
}

/** Whether the server refuses the connection and will not change its mind. One that starts or stops (57P) will. */
function isPermanent(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !error.code?.startsWith('57P')
}

function refused({ home }: Placement, cause: DatabaseError): PostgresNotRunning {
  return new PostgresNotRunning(`The Postgres in ${home} is running but refuses Ferry: ${cause.message}.`, {
    whatToDo:
      'If all its connections are in use, close some. If it refuses the password, the one in ' +
      `${filesIn(home).password} is not that of the role ${SUPERUSER} any more.`,
    cause,
  })
}

/** Connects as the superuser, and makes sure that the database and its owner exist. */
async function connectPresent(
  password: string,
  port: number,
  placement: Placement,
  log: Logger,
): Promise<Pick<Server, 'login' | 'presence'>> {
  const login = { port, user: SUPERUSER, password }
  const presence = await connect(PRESENT, login, log)
  try {
    return { login: await ensureOwner(presence, login, placement, log), presence }
  } catch (error) {
    void presence.end()
    throw error
  }
}
