import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseError } from 'pg'
import { z } from 'zod'
import type { Secret } from '#src/model/secret.ts'
import { transact } from './pool.ts'
import { findColumn } from './rows.ts'
import { FOLDER, loadSchemaState, worksSince } from './schema-state.ts'
import { WatchedClient } from './watched-client.ts'

/*
 * Runs migrations beside workers, which may be of the release before:
 *
 *   most           each in one transaction. It waits a second at most for a lock on a table: whoever comes after it waits for
 *                  that long too. Then it gives way, and tries again.
 *   CONCURRENTLY   statement by statement, outside of a transaction. An index that a migration has left unfinished is dropped
 *                  and built again.
 *
 * One process migrates at a time: it has the lock of the table of migrations, which nobody else needs.
 */

/**
 * Lets one session at a time change tables or rights, until its transaction ends. It needs the right to write to the table, so
 * a role that only reads cannot take it.
 */
export const MIGRATION_LOCK = 'lock table ferry.migrations in share row exclusive mode'

/** How long those who need a table wait for a migration that waits for its lock. */
const LOCK_WAIT_MS = 1_000

/** How the comment of a schema begins that Ferry has made for the readers of one account. */
export const ACCOUNT_SCHEMA_MARK = 'Ferry: what readers'

/**
 * Drops the views that readers of one account have (`src/reports/account-readers.ts` makes them anew): Postgres drops nothing that
 * a view needs.
 */
const DROP_ACCOUNT_VIEWS = `
  do $$ declare v_view regclass; begin
    for v_view in
      select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'v' and n.nspname like 'ferry\\_reader\\_%'
        and obj_description(n.oid, 'pg_namespace') like '${ACCOUNT_SCHEMA_MARK}%'
    loop execute format('drop view %s', v_view); end loop;
  end $$`

/** Two sessions created the same schema or table at once. */
const ALREADY_EXISTS = ['23505', '42P06', '42P07']
const LOCK_NOT_AVAILABLE = '55P03'
const OTHERS_NEED_IT = '2BP01'

export type Migration = {
  readonly name: string
  /** When it was written, which is what the table of migrations knows it by. */
  readonly when: number
  readonly hash: string
  readonly sql: readonly string[]
}

type Options = {
  readonly url: string
  readonly secret: Secret | null
  readonly waitMs: number
  readonly signal: AbortSignal | undefined
}

/** Returns how many migrations ran. One that fails leaves those before it in place. */
export async function runPending(client: WatchedClient, options: Options): Promise<number> {
  const all = await readMigrations()
  let giveUpAtMs = performance.now() + options.waitMs
  let withoutViews = false
  for (let ran = 0; ; ) {
    const before = withoutViews ? [DROP_ACCOUNT_VIEWS] : []
    const next = await runNext(client, all, before, options).catch((error: unknown) => {
      if (isCode(error, OTHERS_NEED_IT) && !withoutViews) {
        withoutViews = true
        return 'another was first' as const
      }
      if (!isCode(error, LOCK_NOT_AVAILABLE) || performance.now() > giveUpAtMs) throw error
      return 'another was first' as const
    })
    if (next === 'none') return ran
    if (next === 'ran') {
      ran++
      giveUpAtMs = performance.now() + options.waitMs
    } else await delay(LOCK_WAIT_MS, undefined, options.signal ? { signal: options.signal } : {})
  }
}

/** Returns all migrations, the oldest first. */
export async function readMigrations(): Promise<Migration[]> {
  // Loaded only here: most starts have nothing to migrate.
  const { readMigrationFiles } = await import('drizzle-orm/migrator')
  const { entries }: Journal = JSON.parse(readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'))
  return readMigrationFiles({ migrationsFolder: FOLDER }).map(({ hash, folderMillis, sql }) => ({
    name: entries.find(({ when }) => when === folderMillis)?.tag ?? '',
    when: folderMillis,
    hash,
    sql,
  }))
}

type Journal = { readonly entries: readonly { readonly when: number; readonly tag: string }[] }

/**
 * Runs the migration that comes next. If this process is suspended, the server ends the transaction after a minute and rolls
 * it back.
 *
 * In an empty database the table of migrations is made first: a session that makes it at the same time waits until this
 * transaction has ended, and then fails and begins again.
 */
async function runNext(
  client: WatchedClient,
  all: readonly Migration[],
  before: readonly string[],
  options: Options,
): Promise<'none' | 'ran' | 'another was first'> {
  return transact(client, async () => {
    await client.query(`set local lock_timeout = ${options.waitMs}`)
    const isMade = await client.query(MAKE_TABLE).then(
      () => true,
      error => {
        if (ALREADY_EXISTS.some(code => isCode(error, code))) return false
        throw error
      },
    )
    // The transaction has failed, so its end rolls back.
    if (!isMade) return 'another was first'
    await client.query(MIGRATION_LOCK)
    // The process that held the lock before has probably run them.
    const { pending } = await loadSchemaState(client)
    const migration = all.find(({ when }) => when === pending[0])
    if (migration === undefined) return 'none'
    if (migration.sql.some(isConcurrent)) {
      await client.query('set local idle_in_transaction_session_timeout = 0')
      await withoutTransaction(migration, options)
    } else {
      await client.query(`set local lock_timeout = ${Math.min(LOCK_WAIT_MS, options.waitMs)}`)
      for (const statement of [...before, ...migration.sql]) await client.query(statement)
    }
    await client.query('insert into ferry.migrations (hash, created_at, works_since) values ($1, $2, $3)', [
      migration.hash,
      migration.when,
      worksSince(),
    ])
    return 'ran'
  })
}

/** Whether Postgres refuses a statement inside of a transaction. */
export function isConcurrent(statement: string): boolean {
  return /^\s*(create|drop|reindex)\b[^;]*\bconcurrently\b/i.test(statement)
}

/**
 * Runs the statements on a connection of their own, while the transaction of the caller keeps others from migrating: idle, it
 * sees no row and has no lock that they wait for.
 */
async function withoutTransaction(
  { sql }: Migration,
  { url, secret, waitMs, signal }: Options,
): Promise<void> {
  const client = new WatchedClient({ connectionString: url, secret, application_name: 'ferry migrate' })
  const stop = () => client.connection.stream.destroy()
  signal?.addEventListener('abort', stop)
  try {
    await client.connect()
    for (const statement of sql) {
      const [, index] =
        /^\s*create\s[^;]*?concurrently\s+(?:if\s+not\s+exists\s+)?"?(\w+)"?\s+on\s/i.exec(statement) ?? []
      const [isValid] = index === undefined ? [] : await findColumn(client, z.boolean(), IS_VALID, [index])
      // It was built, and the process ended before it was recorded.
      if (isValid) continue
      await client.query(`set lock_timeout = ${waitMs}`)
      if (isValid === false) await client.query(`drop index concurrently ferry."${index}"`)
      await client.query(statement)
    }
  } finally {
    signal?.removeEventListener('abort', stop)
    await client.end()
  }
}

const IS_VALID = `select indisvalid from pg_index where indexrelid = to_regclass('ferry.' || quote_ident($1))`

/** The table of migrations, which is there before the first one. */
export const MAKE_TABLE = `
  create schema if not exists ferry;
  create table if not exists ferry.migrations (
    id serial primary key, hash text not null, created_at bigint, works_since bigint)`

/** Whether Postgres refused a statement with this code. */
export function isCode(error: unknown, code: string): boolean {
  return error instanceof DatabaseError && error.code === code
}
