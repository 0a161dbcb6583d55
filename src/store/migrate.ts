import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DatabaseError } from 'pg'
import { transact } from './database.ts'
import { placeOf } from './place.ts'
import { WatchedClient } from './watched-client.ts'

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** Any number that no other program locks in this database: the letters "ferry". */
const LOCK = 0x6665727279

const LOCK_NOT_AVAILABLE = '55P03'
const INSUFFICIENT_PRIVILEGE = '42501'

/** Others that migrate, or use a table that is to be changed, are waited for as long as this. */
const WAIT_MS = 60_000

/** The database was written by a newer Ferry than this one: old code must not touch what it does not know. */
export class DatabaseIsNewer extends Error {
  override readonly name = 'DatabaseIsNewer'
  constructor() {
    super(
      'This database was migrated by a newer Ferry than this one. Run that version (or newer) here; ' +
        'nothing was read or written.',
    )
  }
}

/** Ferry has no tables in the database, and what was asked for makes none. */
export class SchemaMissing extends Error {
  override readonly name = 'SchemaMissing'
  readonly whatToDo =
    '`ferry migrate` makes them, and so does `ferry up` or the first `ferry sync`. If there should be some already, ' +
    'DATABASE_URL (or FERRY_DATA_DIR) points at another database than they are in.'
  constructor() {
    super('The database has no tables of Ferry yet; nothing was read or written.')
  }
}

/** The schema is older than this code, and what was asked for does not change it. */
export class SchemaIsOlder extends Error {
  override readonly name = 'SchemaIsOlder'
  readonly whatToDo = 'Run `ferry migrate`, or restart `ferry up` or a `ferry worker` with this version.'
  constructor(pending: number) {
    const lacks = pending === 1 ? 'one migration' : `${pending} migrations`
    super(`The database is older than this Ferry: it lacks ${lacks}. Nothing was read or written.`)
  }
}

/** This role may not even read what the schema is. What to do goes with the code of the cause. */
export class SchemaUnreadable extends Error {
  override readonly name = 'SchemaUnreadable'
  constructor(url: string, cause: Error) {
    super(`Postgres at ${placeOf(url)} (DATABASE_URL) does not let Ferry use its tables: ${cause.message}`, {
      cause,
    })
  }
}

/** Somebody else held a lock that the migration needs, for too long. */
export class MigrationBlocked extends Error {
  override readonly name = 'MigrationBlocked'
  readonly whatToDo =
    'If another Ferry is migrating it, wait until that is done and start this one again. If none is, something holds a ' +
    'lock: `select pid, state, application_name, query from pg_stat_activity where datname = current_database()` shows who.'
  constructor(url: string, waitedMs: number, cause: unknown) {
    const seconds = Math.round(waitedMs / 1000)
    super(
      `The database at ${placeOf(url)} needs to be migrated, but others have locked it for ${seconds} s.`,
      { cause },
    )
  }
}

/**
 * What may be done to the schema: `read` changes nothing, `create` makes it where there is none, and `update` brings an
 * older one up to date too.
 */
export type SchemaPolicy = 'read' | 'create' | 'update'

type Options = {
  /** Ends the wait for others, and undoes what was begun. */
  readonly signal?: AbortSignal
  readonly waitMs?: number
}

/**
 * Brings the database up to the schema of this code, as far as `policy` allows; returns how many migrations ran: all
 * that were pending, or none.
 *
 * Safe from any number of processes at once and behind any pooler: a lock of the one transaction in which all
 * migrations run lets one through at a time. With nothing to do it takes no lock and needs no right to create.
 * Throws `DatabaseIsNewer`, `SchemaMissing`, `SchemaIsOlder`, `SchemaUnreadable` or `MigrationBlocked`.
 */
export async function migrate(
  databaseUrl: string,
  policy: SchemaPolicy = 'update',
  { signal, waitMs = WAIT_MS }: Options = {},
): Promise<number> {
  signal?.throwIfAborted()
  const client = new WatchedClient({
    connectionString: databaseUrl,
    application_name: 'ferry migrate',
    connectionTimeoutMillis: 10_000,
  })
  const stop = () => client.connection.stream.destroy()
  signal?.addEventListener('abort', stop)
  try {
    await client.connect()
    const state = await loadSchemaState(client).catch(error => {
      throw hasCode(error, INSUFFICIENT_PRIVILEGE) ? new SchemaUnreadable(databaseUrl, error) : error
    })
    expectAllowed(policy, state)
    return state.pending.length === 0 ? 0 : await runPending(client, waitMs)
  } catch (error) {
    signal?.throwIfAborted()
    throw hasCode(error, LOCK_NOT_AVAILABLE) ? new MigrationBlocked(databaseUrl, waitMs, error) : error
  } finally {
    signal?.removeEventListener('abort', stop)
    await client.end()
  }
}

function expectAllowed(policy: SchemaPolicy, { exists, pending }: SchemaState): void {
  if (!exists && policy === 'read') throw new SchemaMissing()
  if (exists && pending.length > 0 && policy !== 'update') throw new SchemaIsOlder(pending.length)
}

/** A process suspended in the middle of it is cut off by the server after a minute, and all it did is undone. */
function runPending(client: WatchedClient, waitMs: number): Promise<number> {
  return transact(client, async () => {
    await client.query(`set local lock_timeout = ${waitMs}`)
    await client.query('select pg_advisory_xact_lock($1)', [LOCK])
    // Whoever had the lock before has probably done it all.
    const { pending } = await loadSchemaState(client)
    if (pending.length === 0) return 0
    await client.query(`
      create schema if not exists ferry;
      create table if not exists ferry.migrations (id serial primary key, hash text not null, created_at bigint)`)
    // Loaded here only: most starts have nothing to migrate.
    const { readMigrationFiles } = await import('drizzle-orm/migrator')
    for (const { hash, folderMillis, sql } of readMigrationFiles({ migrationsFolder: FOLDER })) {
      if (!pending.includes(folderMillis)) continue
      for (const statement of sql) await client.query(statement)
      await client.query('insert into ferry.migrations (hash, created_at) values ($1, $2)', [
        hash,
        folderMillis,
      ])
    }
    return pending.length
  })
}

/** `pending` are the times of the migrations that have not run. */
type SchemaState = { readonly exists: boolean; readonly pending: readonly number[] }

async function loadSchemaState(client: WatchedClient): Promise<SchemaState> {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'),
  )
  const known = journal.entries.map(entry => entry.when)
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('ferry.migrations') is not null as there`,
  )
  if (!rows[0]?.there) return { exists: false, pending: known }
  const applied = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from ferry.migrations',
  )
  const newest = Number(applied.rows[0]?.newest ?? 0)
  if (newest > Math.max(...known)) throw new DatabaseIsNewer()
  return { exists: newest > 0, pending: known.filter(when => when > newest) }
}

function hasCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code
}
