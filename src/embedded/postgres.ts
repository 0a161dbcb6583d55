import { setTimeout as delay } from 'node:timers/promises'
import { type Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { findBinaries } from './binaries.ts'
import { closeEmbeddedPostgres } from './closing.ts'
import { ensureCluster, filesIn, loadPassword, ROLE } from './cluster.ts'
import { connect, PRESENT, urlOf } from './connection.ts'
import { makeDataDir } from './data-dir.ts'
import { NoPostgresYet, PostgresNotRunning } from './errors.ts'
import { withDirectoryLock } from './lock.ts'
import { choosePlacement, isPostgresIn, type Placement } from './placement.ts'
import { findPostmaster, startServer } from './server.ts'

/*
 * A real Postgres in a directory, shared by all Ferry processes that open it.
 *
 *   open:   lock ─ choose where and as whom ─ initialise once ─ start, or find it running ─ connect ─ unlock
 *   close:  lock ─ is anyone else connected? ─ no: stop it ─ unlock
 *
 * The server is nobody's child: it outlives a Ferry that was killed, and is found again. Each Ferry keeps one
 * connection open as long as it needs the server, so who closes last can tell; and the lock keeps anyone from
 * coming in just then.
 */

/** Ferry's database in it. */
const DATABASE = 'ferry'

/** Recovery after a crash may take this long; a start that fails is tried again for a shorter while. */
const READY_WITHIN_MS = 60_000
const RETRY_START_FOR_MS = 3_000
/** As long as another process may take to open it, and a little more. */
const LOCK_WITHIN_MS = READY_WITHIN_MS + 10_000

export type EmbeddedPostgres = {
  /** Contains the password: not for logs. */
  readonly url: string
  /** False if it was found running. */
  readonly startedHere: boolean
  /** In plain words: as whom it runs, where, and why so. */
  readonly how: string
  /** Stops the server unless someone else is connected, whoever started it. Takes 15 s at most; never throws. */
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/**
 * A running Postgres with its files in `dataDir` and a database `ferry`, empty at first.
 *
 * It is made (unless `create` is false), started or found running, as need be; any number of processes may open the
 * same directory at once. Throws `NoPostgresYet`, `PostgresBinariesMissing`, `PostgresNotRunning` or
 * `DataDirUnusable`; all say what to do.
 */
export async function openEmbeddedPostgres(options: {
  dataDir: string
  log: Logger
  create?: boolean
}): Promise<EmbeddedPostgres> {
  const { log, create = true } = options
  if (!create && !isPostgresIn(options.dataDir)) throw new NoPostgresYet(options.dataDir)
  const binaries = await findBinaries()
  const dataDir = await makeDataDir(options.dataDir)

  return withDirectoryLock(dataDir, LOCK_WITHIN_MS, async () => {
    const placement = await choosePlacement(dataDir, binaries)
    await ensureCluster(placement)
    const password = await loadPassword(placement.home)
    const { port, startedHere, presence } = await ensureServer(placement, password, log)
    log.info({ port, startedHere, how: placement.how }, 'the embedded Postgres is ready')

    let closing: Promise<void> | undefined
    const close = () => {
      closing ??= closeEmbeddedPostgres({ dataDir, placement, password, presence, log })
      return closing
    }
    const url = urlOf(password, port, DATABASE)
    return { url, startedHere, how: placement.how, close, [Symbol.asyncDispose]: close }
  })
}

type Server = { readonly port: number; readonly startedHere: boolean; readonly presence: Client }

/** Starts the server, or waits for the one there to be ready, and connects to it. */
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
        const presence = await connectPresent(password, found.port, log)
        return { port: found.port, startedHere, presence }
      } catch (error) {
        if (isForGood(error)) throw refused(placement, error)
        lastRefusal = error
      }
    } else if (!found) {
      const said = await startServer(placement)
      if (said === undefined) {
        startedHere = true
        continue
      }
      failingSince ??= performance.now()
      if (performance.now() > failingSince + RETRY_START_FOR_MS) {
        throw new PostgresNotRunning(`Postgres did not start ${how}.`, {
          said,
          whatToDo: `The lines above say why; all of them are in ${filesIn(home).log}.`,
        })
      }
    }
    await delay(100)
  }
  throw new PostgresNotRunning(`Postgres was not ready within ${READY_WITHIN_MS / 1000} s, ${how}.`, {
    whatToDo: `It may still be recovering from a crash: try again, and read ${filesIn(home).log}.`,
    cause: lastRefusal,
  })
}

/** True if the server answered and will not have us; false if it is only starting or stopping (class 57P). */
function isForGood(error: unknown): error is DatabaseError {
  return error instanceof DatabaseError && !error.code?.startsWith('57P')
}

function refused({ home }: Placement, cause: DatabaseError): PostgresNotRunning {
  return new PostgresNotRunning(`The Postgres in ${home} runs, but refuses Ferry: ${cause.message}.`, {
    whatToDo:
      'If all its connections are taken, close some. If it refuses the password, then the one in ' +
      `${filesIn(home).password} is no longer that of the role ${ROLE}.`,
    cause,
  })
}

/** Connects, and sees to it that the database is there. */
async function connectPresent(password: string, port: number, log: Logger): Promise<Client> {
  const presence = await connect(PRESENT, { password, port, log })
  try {
    const { rowCount } = await presence.query('select from pg_database where datname = $1', [DATABASE])
    if (rowCount === 0) await presence.query(`create database ${DATABASE}`)
    return presence
  } catch (error) {
    void presence.end()
    throw error
  }
}
