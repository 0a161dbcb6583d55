import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { z } from 'zod'
import { connectWithinMs, placeOf } from '#src/model/postgres-address.ts'
import { reasonOf } from '#src/model/reason.ts'
import type { Secret } from '#src/model/secret.ts'
import { isTransient } from '#src/model/transient-error.ts'
import { answeringWithin } from './pool.ts'
import { findValue } from './rows.ts'
import { WatchedClient } from './watched-client.ts'

/** The database cannot be used. The message names server and database, never the password. */
export class PostgresUnusable extends Error {
  override readonly name = 'PostgresUnusable'
  readonly whatToDo: string
  constructor(message: string, whatToDo: string, cause?: unknown) {
    super(message, { cause })
    this.whatToDo = whatToDo
  }
}

/** `server_version_num` of Postgres 15. */
const MIN_VERSION = 150_000
/** In a worker that has had the right one, a password may be being rotated. Not at its start. */
const WRONG_PASSWORD = '28P01'
/** What the server calls the connection. */
export const AT_START = 'ferry start'
const TRY_EVERY_MS = 250
const CONNECT_WITHIN_MS = 5_000

type Options = {
  /** The password, if the address does not contain it. */
  readonly secret: Secret | null
  readonly retryForMs: number
  readonly signal: AbortSignal
  readonly log: Logger
}

/**
 * Returns a connection once the database answers; the caller ends it. Keeps trying for `retryForMs`, so that a server that is
 * starting has time. Throws `PostgresUnusable` after that, or at once if waiting cannot help: a wrong password, no such database, too old.
 */
export async function reachPostgres(
  url: string,
  { secret, retryForMs, signal, log }: Options,
): Promise<WatchedClient> {
  const giveUpAt = performance.now() + retryForMs
  let isLogged = false
  for (;;) {
    signal.throwIfAborted()
    const reached = await tryOnce(url, secret, signal)
    if (reached instanceof WatchedClient) return reached
    const failure = reached
    signal.throwIfAborted()
    if (performance.now() > giveUpAt || !mayPass(failure)) throw unusable(url, failure)
    if (!isLogged) log.info({ error: reasonOf(failure) }, `Waiting for Postgres at ${placeOf(url)}.`)
    isLogged = true
    await delay(TRY_EVERY_MS, undefined, { signal })
  }
}

type Failure = 'too old' | (Error & { code?: string })

/** Returns a connection if it works and the server is new enough. An abort cuts it while it is tried. */
async function tryOnce(
  url: string,
  secret: Secret | null,
  signal: AbortSignal,
): Promise<WatchedClient | Failure> {
  const client = new WatchedClient({
    connectionString: url,
    secret,
    connectionTimeoutMillis: connectWithinMs(url, CONNECT_WITHIN_MS),
    application_name: AT_START,
  })
  const cut = () => client.connection.stream.destroy()
  signal.addEventListener('abort', cut)
  try {
    await client.connect()
    const version = `select current_setting('server_version_num')::int`
    if ((await findValue(answeringWithin(client, CONNECT_WITHIN_MS), z.number(), version)) >= MIN_VERSION)
      return client
    await client.end().catch(() => {})
    return 'too old'
  } catch (error) {
    await client.end().catch(() => {})
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    signal.removeEventListener('abort', cut)
  }
}

/** A refusal by the server itself mostly stays, and so does a certificate that is not trusted. */
function mayPass(failure: Failure): boolean {
  if (failure === 'too old' || isAboutEncryption(failure)) return false
  return !(failure instanceof DatabaseError) || (isTransient(failure) && failure.code !== WRONG_PASSWORD)
}

function isAboutEncryption(failure: Failure): boolean {
  if (failure === 'too old') return false
  return (
    /CERT|ISSUER|LEAF_SIGNATURE|^ERR_(SSL|TLS)/.test(failure.code ?? '') || /\bSSL\b/.test(failure.message)
  )
}

const START_IT =
  'Start it, or correct DATABASE_URL. Without DATABASE_URL, Ferry starts a Postgres of its own.'
const OF_POOLER =
  'If DATABASE_URL leads to a pooler, it may have no connection to the server left: raise its pool size, or end its PAUSE.'

function unusable(url: string, failure: Failure): PostgresUnusable {
  const server = `${placeOf(url)} (DATABASE_URL)`
  if (failure === 'too old') {
    return new PostgresUnusable(
      `The Postgres at ${server} is older than 15.`,
      'Set DATABASE_URL to Postgres 15 or newer.',
    )
  }
  const why = failure.message || failure.code || failure.name
  if (isAboutEncryption(failure)) {
    return new PostgresUnusable(
      `Postgres at ${server} and Ferry do not agree on encryption: ${why}`,
      'Name the certificate authority in DATABASE_URL (sslmode=verify-full&sslrootcert=FILE), or write ' +
        'sslmode=require to encrypt without checking the certificate, or sslmode=disable for a server without TLS.',
      failure,
    )
  }
  if (mayPass(failure)) {
    return new PostgresUnusable(
      `Postgres at ${server} does not answer: ${why}`,
      /timeout/i.test(why) ? `${START_IT} ${OF_POOLER}` : START_IT,
      failure,
    )
  }
  return new PostgresUnusable(
    `Postgres at ${server} refuses Ferry: ${why}`,
    'Correct user, password (or DATABASE_PASSWORD_FILE) and database in DATABASE_URL. The database must exist, and the ' +
      'user must be allowed to connect to it.',
    failure,
  )
}
