import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { getTableConfig, type PgTable } from 'drizzle-orm/pg-core'
import { type Client, DatabaseError } from 'pg'
import { alertRuleVersions, mcpServerVersions } from '#src/inventory/schema.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import { definitionOf } from '#src/model/fields.ts'
import type { Resource } from '#src/model/resource.ts'
import { loadNames, type ObjectName } from './sql-objects.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The current text of one function, with its triggers, or of one view. */
export type SqlFile = { readonly path: string; readonly name: string; readonly text: string }

/** A file, and what it made. */
export type AppliedFile = SqlFile & { readonly made: readonly ObjectName[] }

/** Returns every file in a folder `sql` of a room, with the fields of inventories filled in. */
export function readSqlFiles(root = ROOT): SqlFile[] {
  return globSync('src/**/sql/*.sql', { cwd: root })
    .sort()
    .map(path => {
      const text = withFields(readFileSync(join(root, path), 'utf8'))
      return { path, name: basename(path, '.sql'), text }
    })
}

const TABLES: Readonly<Record<Resource, PgTable>> = {
  'alert-rules': alertRuleVersions,
  'mcp-servers': mcpServerVersions,
}

/** Repeats what stands in `{{alert-rules v.$field, }}` for each field of the definition, with its name and its `$type`. */
export function withFields(sql: string): string {
  return sql.replace(/\{\{(alert-rules|mcp-servers) (.*?)\}\}/g, (_, resource: Resource, each: string) => {
    const types = new Map(
      // What a function returns has a type and no collation.
      getTableConfig(TABLES[resource]).columns.map(column => [
        column.name,
        column.getSQLType().replace(/ COLLATE .*/, ''),
      ]),
    )
    const { fields } = DECLARATIONS[resource]
    return definitionOf(fields)
      .map(name => each.replaceAll('$field', name).replaceAll('$type', `${types.get(name)}`))
      .join('')
      .trimEnd()
  })
}

/**
 * Runs the files in a transaction of the caller, in a schema that has none of their objects. Returns them in an order in
 * which they succeed: one that needs what another makes comes after it. Throws what Postgres says if there is no order.
 */
export async function applyFiles(client: Client, files: readonly SqlFile[]): Promise<AppliedFile[]> {
  const applied: AppliedFile[] = []
  let waiting = files
  let before = await loadNames(client)
  while (waiting.length > 0) {
    const failed: SqlFile[] = []
    let reason: DatabaseError | null = null
    for (const file of waiting) {
      const failure = await attempt(client, file.text)
      if (failure) {
        failed.push(file)
        reason = failure
        continue
      }
      const after = await loadNames(client)
      applied.push({ ...file, made: [...after].filter(name => !before.has(name)) })
      before = after
    }
    if (failed.length === waiting.length) {
      throw new Error(`${failed.map(file => file.path).join(', ')}: ${reason?.message}`, { cause: reason })
    }
    waiting = failed
  }
  return applied
}

/** Runs a text in a transaction of the caller. Returns null, or why Postgres refused it: then nothing is left of it. */
export async function attempt(client: Client, text: string): Promise<DatabaseError | null> {
  await client.query('savepoint attempt')
  try {
    await client.query(text)
    await client.query('release savepoint attempt')
    return null
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    await client.query('rollback to savepoint attempt')
    return error
  }
}

/**
 * Does some work in a transaction, and takes it back. No schema is searched, so that every name of `ferry` is written
 * with its schema, whoever is connected.
 */
export async function rehearse<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query("begin; set local search_path = ''")
  try {
    return await work()
  } finally {
    await client.query('rollback')
  }
}
