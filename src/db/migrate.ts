import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { DatabaseError, type Pool } from 'pg'
import { z } from 'zod'
import { placeOf } from '#src/model/postgres-address.ts'
import { answeringWithin, transact } from './pool.ts'
import { findOne, findValue, Int8, type Queryable } from './rows.ts'
import { type LockHolder, listLockHolders } from './server-facts.ts'
import { WatchedClient } from './watched-client.ts'

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/**
 * Lets one session at a time change tables or rights, until its transaction ends. It needs the right to write to the table, so
 * a role that only reads cannot take it.
 */
export const MIGRATION_LOCK = 'lock table ferry.migrations in share row exclusive mode'

/** Two sessions created the same schema or table at once. */
const ALREADY_EXISTS = ['23505', '42P06', '42P07']
const LOCK_NOT_AVAILABLE = '55P03'
const INSUFFICIENT_PRIVILEGE = '42501'

/** How long a migration waits for others that migrate, or that use a table it changes. */
const WAIT_MS = 60_000

/** A newer Ferry migrated the database. Older code must not touch a schema that it does not know. */
export class DatabaseIsNewer extends Error {
  override readonly name = 'DatabaseIsNewer'
  constructor() {
    super(
      'This database was migrated by a newer Ferry than this one. Run that version or a newer one. ' +
        'Nothing was read or written.',
    )
  }
}

/** The tables are those of a Ferry from before the first release. No migration leads from them to this schema. */
export class DatabaseUnsupported extends Error {
  override readonly name = 'DatabaseUnsupported'
  readonly whatToDo =
    'Give Ferry another database (DATABASE_URL), or another directory (FERRY_DATA_DIR). To use this one and lose its data: ' +
    'drop schema ferry cascade;'
  constructor() {
    super(
      'This database was made by a Ferry from before the first release, and cannot be updated. Nothing was read or written.',
    )
  }
}

/** There is a schema of Ferry's name, and it is not Ferry's. */
export class SchemaTaken extends Error {
  override readonly name = 'SchemaTaken'
  readonly whatToDo =
    'Give Ferry another database (DATABASE_URL), or give that schema another name: alter schema ferry rename to …;'
  constructor(object: string) {
    super(
      `The schema ferry of this database has ${object}, which Ferry did not make. Nothing was read or written.`,
    )
  }
}

/** The database has no tables of Ferry, and the command may not create them. */
export class SchemaMissing extends Error {
  override readonly name = 'SchemaMissing'
  readonly whatToDo =
    '`ferry migrate` creates them, and so does `ferry up` or the first `ferry sync`. If they should exist already, ' +
    'DATABASE_URL (or FERRY_DATA_DIR) leads to the wrong database.'
  constructor() {
    super('The database has no tables of Ferry yet. Nothing was read or written.')
  }
}

/** The schema is older than this code, and the command may not change it. */
export class SchemaIsOlder extends Error {
  override readonly name = 'SchemaIsOlder'
  readonly whatToDo = 'Run `ferry migrate`, or restart `ferry up` or a `ferry worker` with this version.'
  constructor(pending: number) {
    const lacks = pending === 1 ? 'one migration' : `${pending} migrations`
    super(`The database is older than this Ferry: it lacks ${lacks}. Nothing was read or written.`)
  }
}

/** The role may not read Ferry's tables. The code of the cause decides what to do. */
export class SchemaUnreadable extends Error {
  override readonly name = 'SchemaUnreadable'
  constructor(url: string, cause: Error) {
    super(`Postgres at ${placeOf(url)} (DATABASE_URL) does not let Ferry use its tables: ${cause.message}`, {
      cause,
    })
  }
}

/** The role may not create or change Ferry's tables. */
export class SchemaNotWritable extends Error {
  override readonly name = 'SchemaNotWritable'
  readonly whatToDo =
    'Run `ferry migrate` as the role that owns them, or give this role the right: GRANT CREATE ON DATABASE … TO …;'
  constructor(url: string, cause: Error) {
    super(
      `Postgres at ${placeOf(url)} (DATABASE_URL) does not let Ferry create or change its tables: ${cause.message}`,
      { cause },
    )
  }
}

/** Another session held a lock that the migration needs for too long. */
export class MigrationBlocked extends Error {
  override readonly name = 'MigrationBlocked'
  readonly whatToDo =
    'If another Ferry is migrating it, wait until that is done and start this one again. If not, end the session that ' +
    'holds the lock, as its user or as a superuser: `select pg_terminate_backend(PID)`. ' +
    '`select pid, usename, state, query from pg_stat_activity where datname = current_database()` shows all sessions.'
  constructor(url: string, waitedMs: number, holders: readonly LockHolder[], cause: unknown) {
    const seconds = Math.round(waitedMs / 1000)
    const named = holders.map(({ pid, user, program }) => `${pid} (user ${user}${program && `, ${program}`})`)
    const now = named.length === 0 ? '' : ` Locks on its tables are held now by: ${named.join(', ')}.`
    super(
      `The database at ${placeOf(url)} needs to be migrated, but others have locked it for ${seconds} s.${now}`,
      { cause },
    )
  }
}

/**
 * The changes to the schema that are allowed: `read` changes nothing, `create` creates a missing one, `update` also brings an
 * older one up to date.
 */
export type SchemaPolicy = 'read' | 'create' | 'update'

type Options = {
  /** An abort ends the wait and rolls the migration back. */
  readonly signal?: AbortSignal
  readonly waitMs?: number
}

/**
 * Brings the database up to the schema of this code, as far as `policy` allows. Returns how many migrations ran: all that
 * were pending, or none.
 *
 * Any number of processes may call this at once, behind any pooler: all migrations run in one transaction, and its lock
 * lets one process through at a time. A role that only reads cannot take that lock. If nothing is pending, it takes no lock and
 * needs no right to create.
 * Throws `DatabaseIsNewer`, `DatabaseUnsupported`, `SchemaTaken`, `SchemaMissing`, `SchemaIsOlder`, `SchemaUnreadable`,
 * `SchemaNotWritable` or `MigrationBlocked`.
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
    if (state.pending.length === 0) return 0
    return await runPending(client, waitMs).catch(error => {
      throw hasCode(error, INSUFFICIENT_PRIVILEGE) ? new SchemaNotWritable(databaseUrl, error) : error
    })
  } catch (error) {
    signal?.throwIfAborted()
    if (!hasCode(error, LOCK_NOT_AVAILABLE)) throw error
    throw new MigrationBlocked(databaseUrl, waitMs, await listLockHolders(client), error)
  } finally {
    signal?.removeEventListener('abort', stop)
    await client.end()
  }
}

function expectAllowed(policy: SchemaPolicy, { exists, pending }: SchemaState): void {
  if (!exists && policy === 'read') throw new SchemaMissing()
  if (exists && pending.length > 0 && policy !== 'update') throw new SchemaIsOlder(pending.length)
}

/** If this process is suspended, the server ends the transaction after a minute and rolls everything back. */
async function runPending(client: WatchedClient, waitMs: number): Promise<number> {
  for (;;) {
    const ran = await tryPending(client, waitMs)
    if (ran !== 'another was first') return ran
  }
}

/**
 * The lock is `MIGRATION_LOCK`. In an empty database its table is made first: a session that makes the same table at the same
 * time waits until this transaction has ended, and then fails and begins again.
 */
function tryPending(client: WatchedClient, waitMs: number): Promise<number | 'another was first'> {
  return transact(client, async () => {
    await client.query(`set local lock_timeout = ${waitMs}`)
    const isMade = await client.query(MAKE_TABLE).then(
      () => true,
      error => {
        if (ALREADY_EXISTS.some(code => hasCode(error, code))) return false
        throw error
      },
    )
    // The transaction has failed, so its end rolls back.
    if (!isMade) return 'another was first'
    await client.query(MIGRATION_LOCK)
    // The process that held the lock before has probably run them.
    const { pending } = await loadSchemaState(client)
    if (pending.length === 0) return 0
    // Loaded only here: most starts have nothing to migrate.
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

const MAKE_TABLE = `
  create schema if not exists ferry;
  create table if not exists ferry.migrations (id serial primary key, hash text not null, created_at bigint)`

/** How the schema of a database compares with the one that this code knows. */
export type SchemaFit = 'known' | 'missing' | 'older' | 'newer' | 'unsupported'

/** Compares the schema of the database with the one of this code. Changes nothing, and fails after `withinMs`. */
export async function compareSchema(pool: Pool, withinMs: number): Promise<SchemaFit> {
  try {
    const { exists, pending } = await loadSchemaState(answeringWithin(pool, withinMs))
    return !exists ? 'missing' : pending.length > 0 ? 'older' : 'known'
  } catch (error) {
    if (error instanceof DatabaseIsNewer) return 'newer'
    if (error instanceof DatabaseUnsupported || error instanceof SchemaTaken) return 'unsupported'
    throw error
  }
}

/** `pending` holds the times of the migrations that have not run. */
type SchemaState = { readonly exists: boolean; readonly pending: readonly number[] }

async function loadSchemaState(client: Queryable): Promise<SchemaState> {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'),
  )
  const known = journal.entries.map(entry => entry.when)
  const { exists, other } = await findOne(client, Found, FOUND)
  if (other !== null) throw new SchemaTaken(other)
  if (!exists) return { exists, pending: known }
  const newest = Number(
    await findValue(client, Int8.nullable(), 'select max(created_at) from ferry.migrations'),
  )
  if (newest > Math.max(...known)) throw new DatabaseIsNewer()
  if (newest > 0 && newest < Math.min(...known)) throw new DatabaseUnsupported()
  return { exists: newest > 0, pending: known.filter(when => when > newest) }
}

const Found = z.object({ exists: z.boolean(), other: z.string().nullable() })

/** Whether Ferry has made its tables, and something in its schema that it has not made: only the schema may be there before. */
const FOUND = `
  with made as (
    select exists (
      select from pg_attribute where attrelid = to_regclass('ferry.migrations') and attname = 'created_at') as exists)
  select exists, case when not exists then coalesce(
    (select 'a table or view ' || relname from pg_class where relnamespace = to_regnamespace('ferry') and relkind <> 'i' limit 1),
    (select 'a function ' || proname from pg_proc where pronamespace = to_regnamespace('ferry') limit 1)) end as other
  from made`

function hasCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code
}
