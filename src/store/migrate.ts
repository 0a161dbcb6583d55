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

/**
 * Brings the database up to the schema of this code; returns how many migrations ran.
 *
 * Safe from any number of processes at once (an advisory lock of the session lets one through at a time).
 * Without anything to do it needs no right to create. Throws `DatabaseIsNewer`.
 */
export async function migrate(databaseUrl: string): Promise<number> {
  const client = new Client({ connectionString: databaseUrl, application_name: 'ferry migrate' })
  await client.connect()
  try {
    await client.query('select pg_advisory_lock($1)', [LOCK])
    const pending = await countPending(client)
    if (pending > 0) {
      await runPending(client)
    }
    return pending
  } finally {
    await client.end()
  }
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

async function countPending(client: Client): Promise<number> {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'),
  )
  const known = journal.entries.map(entry => entry.when)
  const { rows } = await client.query<{ there: boolean }>(
    `select to_regclass('ferry.migrations') is not null as there`,
  )
  if (!rows[0]?.there) return known.length
  const applied = await client.query<{ newest: string | null }>(
    'select max(created_at) as newest from ferry.migrations',
  )
  const newest = Number(applied.rows[0]?.newest ?? 0)
  if (newest > Math.max(...known)) throw new DatabaseIsNewer()
  return known.filter(when => when > newest).length
}
