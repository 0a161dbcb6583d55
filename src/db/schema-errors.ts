import { placeOf } from '#src/model/postgres-address.ts'
import type { LockHolder } from './server-facts.ts'

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
    'drop schema if exists ferry, ferry_internal cascade;'
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

/** Of Ferry's two schemas only one was dropped. Migrations would fail at what is left in the other. */
export class SchemaLeftOver extends Error {
  override readonly name = 'SchemaLeftOver'
  readonly whatToDo =
    'Restore the schema ferry from a backup, or give Ferry another database (DATABASE_URL). To use this one anew: ' +
    'drop schema if exists ferry, ferry_internal cascade;'
  constructor(object: string) {
    super(
      `The schema ferry_internal of this database still has ${object}, but the schema ferry has no tables, as if it had been dropped alone. ` +
        'Nothing was read or written.',
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
