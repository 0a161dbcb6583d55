import { readFileSync } from 'node:fs'
import { z } from 'zod'
import { findAll, type Queryable } from './rows.ts'
import { isConcurrent, readMigrations } from './run-migrations.ts'
import { FOLDER, loadSchemaState } from './schema-state.ts'

/**
 * A lock that a migration takes on a table or view that was there before, and what it does to it while it has the lock:
 * `none` changes the catalog only. `drizzle/locks.json` has them as Postgres showed them, and a test compares.
 */
export type MigrationLock = {
  readonly table: string
  /** As in `pg_locks`. */
  readonly mode: string
  readonly work: 'none' | 'scan' | 'write' | 'rewrite'
}

/** Those that keep workers from writing. */
const STRONG = ['ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock']

/** Returns why workers of the release before cannot work beside a migration, in sentences; empty if they can. */
export function problemsOf(locks: readonly MigrationLock[]): string[] {
  const strong = locks.find(({ mode }) => STRONG.includes(mode))
  return locks.flatMap(({ table, work }) => {
    if (work === 'rewrite') return [`It rewrites ${table}, which nobody can use until that is done.`]
    if (work === 'write')
      return [`It writes rows of ${table}: leave that to a backfill, which goes in batches.`]
    if (work === 'scan' && strong)
      return [
        `It reads ${table} while it has ${strong.mode} on ${strong.table}: read in a migration of its own.`,
      ]
    return []
  })
}

/** What `ferry migrate` would do. */
export type PlannedMigration = {
  readonly migration: string
  readonly statements: readonly string[]
  /** Null for the first one, which finds nothing to lock. */
  readonly locks: readonly (MigrationLock & { readonly rows: number })[] | null
  /** It reads whole tables, and nobody waits for it. */
  readonly isConcurrent: boolean
}

const TableRows = z.object({ table: z.string(), rows: z.number() })

/** Changes nothing, and locks nothing. Throws what `loadSchemaState` throws. */
export async function planMigrations(client: Queryable): Promise<PlannedMigration[]> {
  const { exists, pending } = await loadSchemaState(client)
  const all: Record<string, readonly MigrationLock[]> = JSON.parse(
    readFileSync(`${FOLDER}/locks.json`, 'utf8'),
  )
  const sizes = await findAll(
    client,
    TableRows,
    `select relname as table, greatest(reltuples, 0)::float8 as rows from pg_class where relnamespace = to_regnamespace('ferry')`,
  )
  const rowsOf = new Map(sizes.map(({ table, rows }) => [table, rows]))
  return (await readMigrations())
    .filter(({ when }) => pending.includes(when))
    .map(({ name, sql }) => ({
      migration: name,
      statements: sql.map(statement => statement.trim()),
      locks: exists ? (all[name] ?? []).map(lock => ({ ...lock, rows: rowsOf.get(lock.table) ?? 0 })) : null,
      isConcurrent: sql.some(isConcurrent),
    }))
}
