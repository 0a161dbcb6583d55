import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

test('one file alone writes the status of an import, and one the first', () => {
  const files = globSync(['src/**/*.{ts,sql}', 'jobs/**/*.ts'], { cwd: ROOT })
  const writers = files.filter(file => writesStatus(file, readFileSync(join(ROOT, file), 'utf8')))
  expect(writers.sort()).toEqual(['src/imports/move-import.ts', 'src/imports/staging/staging.ts'])
})

test.for([
  [true, "drizzleOf(client).update(imports).set({ rows: 1, status: 'paused' })"],
  [true, 'db.update(imports).set({ ...paused })'],
  [true, 'db.update(imports).set(changes)'],
  [true, 'const update = db.update(imports)'],
  [true, 'db.insert(imports).values({ file })'],
  [true, "client.query(`update ferry.imports i set status = 'queued' from o where o.id = 1`)"],
  [true, `client.query(\`update ferry.imports set \${changes} where id = $1\`)`],
  [true, "client.query('insert into ferry.imports (file) values ($1)')"],
  [false, "db.update(imports).set({ retry_at: null }).where(eq(imports.status, 'paused'))"],
  [false, "client.query(`update ferry.imports set read = 1 where status = 'paused'`)"],
  [false, "db.update(importBatches).set({ status: 'sent' })"],
] as const)('whether source writes the status: %s, %s', ([writes, source]) => {
  expect(writesStatus('one.ts', source)).toBe(writes)
})

const UPDATE_IN_SQL = /update\s+ferry\.imports\b.*?\bset\b(.*?)(?:\bwhere\b|\bfrom\b|\breturning\b|;|$)/gis
const INSERT_IN_SQL = /insert\s+into\s+ferry\.imports\b/i

/** Whether the source writes `imports.status`, or may: what cannot be read off is taken for a writer. */
function writesStatus(path: string, text: string): boolean {
  if (INSERT_IN_SQL.test(text)) return true
  const sets = [...text.matchAll(UPDATE_IN_SQL)].map(([, set = '']) => set)
  if (sets.some(set => /\bstatus\s*=|\$\{/i.test(set))) return true
  return (
    text.includes('(imports)') &&
    writesByDrizzle(ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true))
  )
}

function writesByDrizzle(node: ts.Node): boolean {
  return (
    isWrite(node, 'insert') || (isWrite(node, 'update') && !isHarmless(node.parent?.parent)) || within(node)
  )
}

function within(node: ts.Node): boolean {
  return ts.forEachChild(node, writesByDrizzle) ?? false
}

/** `db.update(imports)` */
function isWrite(node: ts.Node, verb: string): boolean {
  return (
    ts.isCallExpression(node) &&
    ts.isPropertyAccessExpression(node.expression) &&
    node.expression.name.text === verb &&
    node.arguments[0]?.getText() === 'imports'
  )
}

/** `.set({ column: value })`, with columns that are all named and not the status. */
function isHarmless(call: ts.Node | undefined): boolean {
  if (!call || !ts.isCallExpression(call)) return false
  const [columns] = call.arguments
  return (
    columns !== undefined &&
    ts.isObjectLiteralExpression(columns) &&
    columns.properties.every(one => one.name !== undefined && one.name.getText() !== 'status')
  )
}
