import { execFileSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { pino } from 'pino'
import { migrate } from '#src/db/migrate.ts'
import { problemsOf } from '#src/db/migration-plan.ts'
import { readMigrations } from '#src/db/run-migrations.ts'
import { openEmbeddedPostgres } from '#src/embedded/postgres.ts'
import { measureLocks } from './locks.ts'
import { planSql } from './plan-sql.ts'
import { planTables, readTableStatements } from './plan-tables.ts'
import { readSqlFiles } from './sql-files.ts'

/*
 * Writes the migrations that are missing:
 *
 *     npm run generate                          names the migration after what it changes
 *     npm run generate -- --name what_changes   names it so
 *
 * To change a table, edit a `schema.ts`; drizzle-kit writes what differs from its last snapshot. To change a function, a
 * view or a trigger, edit its file: the current text of each stands in one file `sql/NAME.sql` beside the code that
 * calls it, a trigger with its function, each with its COMMENT ON. To add one, add a file; to rename or remove one, rename
 * or remove the file. To change the comment of a table or a column, or what Drizzle cannot say about a table, edit its file
 * in `drizzle/tables`. Then run this script. It migrates an empty embedded Postgres, runs the files there, compares what
 * Postgres makes of them with what the migrations made, and writes whatever differs into a new migration (or into the
 * one that drizzle-kit has just written): the text of the file, and before it a DROP where CREATE OR REPLACE does not do.
 * With nothing changed it writes nothing. At the end it says what it wrote. Comments outside of a body are not in the database, so they make no migration.
 *
 * Then it runs all migrations in an empty Postgres, and writes the locks of each one to `locks.json`, for `ferry migrate --plan`.
 *
 * Read the migration before you commit it. Once released it is never edited; until then, delete it (its file, its
 * snapshot and its entry in `meta/_journal.json`) and run this again. A test migrates a database and compares it with
 * the files, so a file that was changed without a migration is noticed.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const BREAKPOINT = '\n--> statement-breakpoint\n'

await main(process.argv.slice(2))

async function main(options: readonly string[]): Promise<void> {
  const before = await newestMigration()
  runDrizzleKit(options)
  await allowSchema()
  const plan = await onScratchDatabase(planObjects)
  const isNew = (await newestMigration()) === before
  if (plan.statements.length === 0) {
    const wrote = isNew ? '' : `Wrote drizzle/${await newestMigration()}.sql. `
    process.stdout.write(`${wrote}Comments, functions and views: nothing changed.\n`)
  } else {
    if (isNew) runDrizzleKit(['--custom', ...(options.length > 0 ? options : ['--name', plan.name])])
    const name = `drizzle/${await newestMigration()}.sql`
    const file = join(ROOT, name)
    const text = plan.statements.join(BREAKPOINT)
    await writeFile(
      file,
      isNew ? `${text}\n` : `${(await readFile(file, 'utf8')).trim()}${BREAKPOINT}${text}\n`,
    )
    process.stdout.write(`Wrote ${name}: ${plan.what}.\n`)
  }
  await writeLocks()
}

/** Says what the newest migration may not do beside workers; a test fails then. */
async function writeLocks(): Promise<void> {
  const migrations = await readMigrations()
  const locks =
    migrations.length < 2 ? {} : await onScratchDatabase(client => measureLocks(client, migrations), false)
  await writeFile(join(ROOT, 'drizzle/locks.json'), `${JSON.stringify(locks, null, 2)}\n`)
  const newest = migrations.at(-1)?.name ?? ''
  for (const problem of problemsOf(locks[newest] ?? [])) process.stdout.write(`${newest}: ${problem}\n`)
}

function runDrizzleKit(options: readonly string[]): void {
  execFileSync(process.execPath, ['node_modules/drizzle-kit/bin.cjs', 'generate', ...options], {
    cwd: ROOT,
    stdio: 'inherit',
  })
}

/** The schema is there before the first migration: it has the table of migrations. */
async function allowSchema(): Promise<void> {
  const file = join(ROOT, `drizzle/${await newestMigration()}.sql`)
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace('CREATE SCHEMA "ferry"', 'CREATE SCHEMA IF NOT EXISTS "ferry"'))
}

async function newestMigration(): Promise<string | undefined> {
  const journal: { entries: { tag: string }[] } = JSON.parse(
    await readFile(join(ROOT, 'drizzle/meta/_journal.json'), 'utf8'),
  )
  return journal.entries.at(-1)?.tag
}

/** What a new migration would do, in words, and its name if no other is given. */
type Plan = { readonly statements: readonly string[]; readonly what: string; readonly name: string }

/** Gives `work` a client of an empty embedded Postgres, migrated or not. */
async function onScratchDatabase<T>(work: (client: Client) => Promise<T>, isMigrated = true): Promise<T> {
  await using opened = new AsyncDisposableStack()
  const dataDir = await mkdtemp(join(tmpdir(), 'ferry-generate-'))
  opened.defer(() => rm(dataDir, { recursive: true, force: true }))
  const postgres = opened.use(await openEmbeddedPostgres({ dataDir, log: pino({ level: 'warn' }) }))
  if (isMigrated) await migrate(postgres.url)
  const client = new Client({ connectionString: postgres.url })
  await client.connect()
  opened.defer(() => client.end())
  return await work(client)
}

async function planObjects(client: Client): Promise<Plan> {
  const tables = await planTables(client, readTableStatements())
  for (const statement of tables) await client.query(statement)
  const { drops, files } = await planSql(client, readSqlFiles())
  const names = files.map(file => file.name)
  return {
    statements: [...tables, ...drops, ...files.map(({ text }) => text.trim())],
    what: [
      ...(tables.length > 0 ? [`${tables.length} statements of drizzle/tables`] : []),
      ...drops.map(drop => drop.replace(/;$/, '')),
      ...names,
    ].join(', '),
    name: names.length === 0 ? 'comments' : names.length > 2 ? 'functions_and_views' : names.join('_and_'),
  }
}
