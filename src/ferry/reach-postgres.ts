import { setTimeout as delay } from 'node:timers/promises'
import { Client, DatabaseError } from 'pg'
import type { Logger } from 'pino'
import { reasonOf } from '#src/model/reason.ts'
import { isPassing } from '#src/store/patience.ts'
import { placeOf } from '#src/store/place.ts'

/** The database cannot be used. The message names server and database, never the password. */
export class PostgresUnusable extends Error {
  override readonly name = 'PostgresUnusable'
  readonly whatToDo: string
  constructor(message: string, whatToDo: string, cause?: unknown) {
    super(message, { cause })
    this.whatToDo = whatToDo
  }
}

const OLDEST = 150_000
const INSUFFICIENT_PRIVILEGE = '42501'
const TRY_EVERY_MS = 250
const CONNECT_WITHIN_MS = 5_000

/**
 * Resolves once the database answers, at the latest after `patienceMs`, which gives a server that is starting its
 * time. Throws `PostgresUnusable`, at once where waiting is no use (a wrong password, no such database, too old).
 */
export async function reachPostgres(
  url: string,
  { patienceMs, signal, log }: { patienceMs: number; signal: AbortSignal; log: Logger },
): Promise<void> {
  const giveUpAt = performance.now() + patienceMs
  let said = false
  for (;;) {
    signal.throwIfAborted()
    const failure = await tryOnce(url)
    if (failure === null) return
    if (performance.now() > giveUpAt || !mayPass(failure)) throw unreachable(url, failure)
    if (!said) log.info({ error: reasonOf(failure) }, `waiting for Postgres at ${placeOf(url)}`)
    said = true
    await delay(TRY_EVERY_MS, undefined, { signal })
  }
}

/** Tells a migration that lacks a right from one that fails; for `catch`. */
export function explainRights(url: string): (error: unknown) => never {
  return error => {
    if (!(error instanceof DatabaseError) || error.code !== INSUFFICIENT_PRIVILEGE) throw error
    throw new PostgresUnusable(
      `Postgres at ${placeOf(url)} (DATABASE_URL) does not let Ferry make or change its tables: ${error.message}`,
      'Run `ferry migrate` as the role that owns them, or give this role the right: GRANT CREATE ON DATABASE … TO …;',
      error,
    )
  }
}

async function tryOnce(url: string): Promise<Failure | null> {
  const client = new Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_WITHIN_MS,
    query_timeout: CONNECT_WITHIN_MS,
    application_name: 'ferry start',
  })
  client.on('error', () => {})
  try {
    await client.connect()
    const { rows } = await client.query<{ number: string }>(
      `select current_setting('server_version_num') as number`,
    )
    return Number(rows[0]?.number) >= OLDEST ? null : 'too old'
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error))
  } finally {
    await client.end().catch(() => {})
  }
}

type Failure = 'too old' | (Error & { code?: string })

/** What the server itself says is mostly for good, and so is a certificate that is not trusted. */
function mayPass(failure: Failure): boolean {
  if (failure === 'too old' || isAboutEncryption(failure)) return false
  return !(failure instanceof DatabaseError) || isPassing(failure)
}

function isAboutEncryption(failure: Failure): boolean {
  if (failure === 'too old') return false
  return (
    /CERT|ISSUER|LEAF_SIGNATURE|^ERR_(SSL|TLS)/.test(failure.code ?? '') || /\bSSL\b/.test(failure.message)
  )
}

function unreachable(url: string, failure: Failure): PostgresUnusable {
  const place = placeOf(url)
  if (failure === 'too old') {
    return new PostgresUnusable(
      `The Postgres at ${place} (DATABASE_URL) is older than 15.`,
      'Point DATABASE_URL at Postgres 15 or newer.',
    )
  }
  const why = failure.message || failure.code || failure.name
  if (isAboutEncryption(failure)) {
    return new PostgresUnusable(
      `Postgres at ${place} (DATABASE_URL) and Ferry do not agree on encryption: ${why}`,
      'Name the authority of its certificate in DATABASE_URL (sslmode=verify-full&sslrootcert=FILE), or write ' +
        'sslmode=require to encrypt without looking at the certificate, or sslmode=disable for a server without TLS.',
      failure,
    )
  }
  if (mayPass(failure)) {
    return new PostgresUnusable(
      `Postgres at ${place} (DATABASE_URL) does not answer: ${why}`,
      'Start it, or correct DATABASE_URL. Without DATABASE_URL, Ferry brings up a Postgres of its own.',
      failure,
    )
  }
  return new PostgresUnusable(
    `Postgres at ${place} (DATABASE_URL) refuses Ferry: ${why}`,
    'Correct user, password (or DATABASE_PASSWORD_FILE) and database in DATABASE_URL; the database must exist and the ' +
      'user may connect to it.',
    failure,
  )
}
