import { globSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { generateDrizzleJson, generateMigration } from 'drizzle-kit/api'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

/** What the last migration left, as drizzle-kit remembers it. */
async function lastSnapshot(): Promise<Parameters<typeof generateMigration>[0]> {
  const name = globSync('drizzle/meta/*_snapshot.json', { cwd: ROOT }).sort().at(-1) ?? ''
  return JSON.parse(await readFile(join(ROOT, name), 'utf8'))
}

test('the tables are as the migrations made them: nothing was declared without a migration', async () => {
  const files = globSync('src/*/schema.ts', { cwd: ROOT }).sort()
  const modules = await Promise.all(files.map(file => import(join(ROOT, file)) as Promise<object>))
  const last = await lastSnapshot()
  const declared = generateDrizzleJson(Object.assign({}, ...modules), last.id, ['ferry'])
  expect(Object.keys(declared.tables).length).toBeGreaterThan(25)
  expect(await generateMigration(last, declared)).toEqual([])
})
