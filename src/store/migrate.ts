import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'

const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** Any number that no other program locks in this database: the letters "ferry". */
const LOCK = 0x6665727279

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

/**
 * What may be done to the schema: `read` changes nothing, `create` makes it where there is none, and `update` brings an
 * older one up to date too.
 */
export type SchemaPolicy = 'read' | 'create' | 'update'

/**
 * Brings the database up to the schema of this code, as far as `policy` allows; returns how many migrations ran.
 *
 * Safe from any number of processes at once (an advisory lock of the session lets one through at a time).
 * Without anything to do it needs no right to create. Throws `DatabaseIsNewer`, `SchemaMissing` or `SchemaIsOlder`.
 */
export async function migrate(databaseUrl: string, policy: SchemaPolicy = 'update'): Promise<number> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'ferry migrate' })
  await client.connect()
  try {
    expectAllowed(policy, await loadSchemaState(client))
    if (policy === 'read') return 0
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const { pending } = await loadSchemaState(client)
    if (pending > 0) {
      await runPending(client)
    }
    return pending
  } finally {
    await client.end()
  }
}

/** `create` goes on where another process has just begun to create: it finds an empty schema, or a complete one. */
function expectAllowed(policy: SchemaPolicy, { exists, pending }: SchemaState): void {
  if (!exists && policy === 'read') throw new SchemaMissing()
  if (exists && pending > 0 && policy !== 'update') throw new SchemaIsOlder(pending)
}

/** Drizzle is loaded here only: it costs a third of a second and 60 MB, and most starts have nothing to migrate. */
async function runPending(client: Client): Promise<void> {
  const { drizzle } = await import('drizzle-orm/node-postgres')
  const { migrate: runMigrations } = await import('drizzle-orm/node-postgres/migrator')
  await runMigrations(drizzle(client), {
    migrationsFolder: FOLDER,
    migrationsSchema: 'ferry',
    migrationsTable: 'migrations',
  })
}

type SchemaState = { readonly exists: boolean; readonly pending: number }

async function loadSchemaState(client: Client): Promise<SchemaState> {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'),
  )
  const known = journal.entries.map(entry => entry.when)
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('ferry.migrations') is not null as there`,
  )
  if (!rows[0]?.there) return { exists: false, pending: known.length }
  const applied = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from ferry.migrations',
  )
  const newest = Number(applied.rows[0]?.newest ?? 0)
  if (newest > Math.max(...known)) throw new DatabaseIsNewer()
  // Drizzle makes its table before it runs the first migration: an empty one is no schema yet.
  return { exists: newest > 0, pending: known.filter(when => when > newest).length }
}
