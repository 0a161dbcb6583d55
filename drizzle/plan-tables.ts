import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from 'pg'
import { VERSIONS } from '#src/inventory/versioned-tables.ts'
import { DECLARATIONS } from '#src/model/declarations.ts'
import { RESOURCES, type Resource } from '#src/model/resource.ts'
import { rehearse } from './sql-files.ts'

const FOLDER = fileURLToPath(new URL('tables', import.meta.url))

/**
 * Returns each statement of `drizzle/tables` (comments, and what Drizzle cannot say) and the comments of an inventory's fields.
 * Run twice, they do what they did once.
 */
export function readTableStatements(): string[] {
  const statements = globSync('*.sql', { cwd: FOLDER })
    .sort()
    .flatMap(file => readFileSync(join(FOLDER, file), 'utf8').split(/;\n/))
    .map(statement => statement.trim())
    .filter(statement => statement !== '')
  return [...statements, ...RESOURCES.flatMap(fieldComments)]
}

/** Of the columns that are fields of the platform. */
function fieldComments(resource: Resource): string[] {
  const { name, idColumn, columns } = VERSIONS[resource]
  const { fields } = DECLARATIONS[resource]
  return [idColumn, ...columns].map(
    column => `COMMENT ON COLUMN ${name}.${column} IS '${fields[column]?.means.replaceAll("'", "''")}'`,
  )
}

/** Returns those statements that would change something in a database. Changes nothing. */
export function planTables(client: Client, statements: readonly string[]): Promise<string[]> {
  return rehearse(client, async () => {
    const changing: string[] = []
    let before = await stateOf(client)
    for (const statement of statements) {
      await client.query(statement)
      const after = await stateOf(client)
      if (after !== before) changing.push(`${statement};`)
      before = after
    }
    return changing
  })
}

/** Schemas, comments, storage parameters and indexes. */
async function stateOf(client: Client): Promise<string> {
  const { rows } = await client.query<{ state: string }>(`
    select concat(
      (select count(*) from pg_namespace),
      (select string_agg(concat_ws(' ', objoid, objsubid, description), ',' order by objoid, objsubid)
        from pg_description where classoid in ('pg_class'::regclass, 'pg_namespace'::regclass) and objoid >= 16384),
      (select string_agg(concat_ws(' ', oid, reloptions), ',' order by oid) from pg_class where oid >= 16384)) as state`)
  return rows[0]?.state ?? ''
}
