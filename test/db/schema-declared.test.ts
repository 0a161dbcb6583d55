import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import type { Client } from 'pg'
import { expect, test } from 'vitest'
import { openEmptyDatabase } from '#test/support/database.ts'
import { openTestStore } from '#test/support/store.ts'
import { readTableStatements } from '../../drizzle/plan-tables.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the last migration left, as drizzle-kit remembers it. */
async function lastSnapshot(): Promise<Parameters<typeof generateMigration>[0]> {
  const name = globSync('drizzle/meta/*_snapshot.json', { cwd: ROOT }).sort().at(-1) ?? ''
  return JSON.parse(await readFile(join(ROOT, name), 'utf8'))
}

/** The tables as every `schema.ts` declares them, as drizzle-kit remembers tables. */
async function declaredTables(after?: string) {
  const files = globSync('src/*/schema.ts', { cwd: ROOT }).sort()
  const modules = await Promise.all(files.map(file => import(join(ROOT, file)) as Promise<object>))
  return generateDrizzleJson(Object.assign({}, ...modules), after, ['ferry'])
}

/** Each column, index and constraint, as this Postgres writes it. The migrator makes a table of its own. */
async function factsOf(client: Pick<Client, 'query'>): Promise<string[]> {
  const { rows } = await client.query<{ fact: string }>(`
    with tables as (
      select * from pg_class where relnamespace = 'ferry'::regnamespace and relkind = 'r' and relname <> 'migrations'
    )
    select concat_ws(' ', t.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation,
      case when a.attnotnull then 'not null' end, a.attidentity, a.attgenerated, a.attcompression, pg_get_expr(d.adbin, d.adrelid)) as fact
    from tables t join pg_attribute a on a.attrelid = t.oid and a.attnum > 0 and not a.attisdropped
    left join pg_attrdef d on d.adrelid = t.oid and d.adnum = a.attnum
    union all select pg_get_indexdef(i.indexrelid) from tables t join pg_index i on i.indrelid = t.oid
    union all select concat_ws(' ', t.relname, c.conname, pg_get_constraintdef(c.oid)) from tables t join pg_constraint c on c.conrelid = t.oid
    union all select concat_ws(' ', t.relname, t.reloptions) from tables t
    order by fact`)
  return rows.map(({ fact }) => fact)
}

test('the tables are as the migrations made them: nothing was declared without a migration', async () => {
  const last = await lastSnapshot()
  const declared = await declaredTables(last.id)
  expect(Object.keys(declared.tables).length).toBeGreaterThan(25)
  expect(await generateMigration(last, declared)).toEqual([])
})

test('a migrated database has the columns, indexes and constraints that are declared, and no others', async () => {
  await using store = await openTestStore()
  await using empty = await openEmptyDatabase()
  const made = await generateMigration(generateDrizzleJson({}, undefined, ['ferry']), await declaredTables())
  for (const statement of made) await empty.client.query(statement)
  for (const statement of readTableStatements().filter(text => /^(CREATE|ALTER) /m.test(text))) {
    await empty.client.query(statement)
  }
  const declared = await factsOf(empty.client)
  expect(declared.length).toBeGreaterThan(300)
  expect(await factsOf(store.pool as unknown as Client)).toEqual(declared)
})
