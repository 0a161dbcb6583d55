import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Pool } from 'pg'
import { z } from 'zod'
import { answeringWithin } from './pool.ts'
import { findMaybe, findOne, type Queryable } from './rows.ts'
import { DatabaseIsNewer, DatabaseUnsupported, SchemaLeftOver, SchemaTaken } from './schema-errors.ts'

/** Where the migrations are. */
export const FOLDER = fileURLToPath(new URL('../../drizzle', import.meta.url))

/** How the schema of a database compares with the one that this code knows. */
export type SchemaFit = 'known' | 'missing' | 'older' | 'newer' | 'unsupported'

/** Compares the schema of the database with the one of this code. Changes nothing, and fails after `withinMs`. */
export async function compareSchema(pool: Pool, withinMs: number): Promise<SchemaFit> {
  try {
    const { exists, pending } = await loadSchemaState(answeringWithin(pool, withinMs))
    return !exists ? 'missing' : pending.length > 0 ? 'older' : 'known'
  } catch (error) {
    if (error instanceof DatabaseIsNewer) return 'newer'
    if ([DatabaseUnsupported, SchemaTaken, SchemaLeftOver].some(kind => error instanceof kind))
      return 'unsupported'
    throw error
  }
}

/** `pending` holds the times of the migrations that have not run, the oldest first. */
export type SchemaState = { readonly exists: boolean; readonly pending: readonly number[] }

/** Throws `DatabaseIsNewer`, `DatabaseUnsupported`, `SchemaTaken` or `SchemaLeftOver`. */
export async function loadSchemaState(client: Queryable): Promise<SchemaState> {
  const known = knownMigrations()
  const { exists, other, leftOver } = await findOne(client, Found, FOUND)
  if (other !== null) throw new SchemaTaken(other)
  if (leftOver !== null) throw new SchemaLeftOver(leftOver)
  if (!exists) return { exists, pending: known }
  const { newest, worksSince } = (await findMaybe(client, Ran, RAN)) ?? { newest: 0, worksSince: 0 }
  // A newer release may have migrated it, if that one says that this one still works with it.
  if (newest > Math.max(...known) && worksSince > Math.max(...known)) throw new DatabaseIsNewer()
  if (newest > 0 && newest < Math.min(...known)) throw new DatabaseUnsupported()
  return { exists: newest > 0, pending: known.filter(when => when > newest) }
}

/** The times of all migrations of this Ferry, the oldest first. */
function knownMigrations(): number[] {
  const journal: { entries: { when: number }[] } = JSON.parse(
    readFileSync(`${FOLDER}/meta/_journal.json`, 'utf8'),
  )
  return journal.entries.map(entry => entry.when)
}

/**
 * Returns the newest migration of the release before this one. Ferries that have it work with the schema of this one too:
 * that is what CONTRIBUTING.md asks of every migration.
 */
export function worksSince(): number {
  const newest = Math.max(...knownMigrations())
  const releases: Record<string, number> = JSON.parse(readFileSync(`${FOLDER}/releases.json`, 'utf8'))
  const older = Object.values(releases).filter(when => when < newest)
  return older.length === 0 ? newest : Math.max(...older)
}

const Found = z.object({
  exists: z.boolean(),
  other: z.string().nullable(),
  leftOver: z.string().nullable(),
})

const anObjectOf = (schema: string) => `coalesce(
    (select 'a table or view ' || relname from pg_class where relnamespace = to_regnamespace('${schema}') and relkind <> 'i' limit 1),
    (select 'a function ' || proname from pg_proc where pronamespace = to_regnamespace('${schema}') limit 1))`

/**
 * Whether Ferry has made its tables, and if not, something in its schema that it has not made (only the schema may be there
 * before), and something in its other schema.
 */
const FOUND = `
  with made as (
    select exists (
      select from pg_attribute where attrelid = to_regclass('ferry.migrations') and attname = 'created_at') as exists)
  select exists, case when not exists then ${anObjectOf('ferry')} end as other,
    case when not exists then ${anObjectOf('ferry_internal')} end as left_over
  from made`

/** The newest migration that ran, and the newest one of the oldest Ferry that works with the schema since then. */
const Ran = z.object({ newest: z.coerce.number(), worksSince: z.coerce.number() })

/** The table of a development version has no column `works_since`. */
const RAN = `
  select created_at as newest, coalesce((to_jsonb(m)->>'works_since')::bigint, created_at) as works_since
  from ferry.migrations m order by created_at desc limit 1`
