import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

/*
 * No row of a statement is believed: it passes a zod schema in `src/db/rows.ts`, or a Drizzle column decodes it.
 */

/** What reads rows without a schema, and why it may. */
const MAY: Readonly<Record<string, string>> = {
  'src/db/rows.ts': 'it is what checks them',
  'src/reports/run-report.ts': 'a report has cells of any type, which its own parsers of each type make',
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOUND = globSync('{src,jobs}/**/*.ts', { cwd: ROOT }).flatMap(path =>
  uncheckedIn(readFileSync(join(ROOT, path), 'utf8')).map(place => ({ path, place })),
)

test('each row of raw SQL passes a schema', () => {
  expect(FOUND.filter(({ path }) => !(path in MAY))).toEqual([])
})

test('what may read rows without a schema does so', () => {
  expect(Object.keys(MAY).filter(file => !FOUND.some(({ path }) => path === file))).toEqual([])
})

test.for([
  'const { rows } = await pool.query(text)',
  'const { rowCount, rows: found } = await client.query(text)',
  'const rows = (await client.query(text)).rows',
  'const page = await pool.query(text)\nshow(page.rows)',
  'const page = (await drizzleOf(pool).execute(text)) as Page',
  'await pool.query<Row>(text)',
  'pool.query(text).then(({ rows }) => rows)',
  'const at = sql<Date>`now()`',
])('is noticed: %s', text => {
  expect(uncheckedIn(text)).not.toEqual([])
})

test.for([
  'const { rowCount } = await pool.query(text)',
  'countOf(await pool.query(text))',
  'const found = rowsOf(Row, await client.query(text))',
  'const at = sql<Date>`now()`.mapWith(column)',
  'const { rows } = page',
  'const { rows } = await pool.query<unknown[]>(text)',
  'client.query(text).then(() => true)',
  'client.query(text).catch(error => show(error))',
])('is allowed: %s', text => {
  expect(uncheckedIn(text)).toEqual([])
})

/** The places where rows are taken from a result, or said to have a type that nobody checked. */
function uncheckedIn(text: string): string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
  const results = new Set<string>()
  const found: string[] = []
  const visit = (node: ts.Node): void => {
    if (isUnchecked(node, results)) {
      const { line } = source.getLineAndCharacterOfPosition(node.getStart())
      found.push(`${line + 1}: ${node.getText().split('\n')[0]}`)
    }
    if (ts.isVariableDeclaration(node) && ts.isIdentifier(node.name) && isResult(node.initializer)) {
      results.add(node.name.text)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function isUnchecked(node: ts.Node, results: ReadonlySet<string>): boolean {
  if (ts.isCallExpression(node) && isStatement(node)) {
    return node.typeArguments !== undefined || isReadByThen(node)
  }
  if (ts.isTaggedTemplateExpression(node) && node.typeArguments && node.tag.getText() === 'sql') {
    return !(ts.isPropertyAccessExpression(node.parent) && node.parent.name.text === 'mapWith')
  }
  if (ts.isPropertyAccessExpression(node) && node.name.text === 'rows') {
    return (
      isResult(node.expression) || (ts.isIdentifier(node.expression) && results.has(node.expression.text))
    )
  }
  if (ts.isAsExpression(node)) return isResult(node.expression)
  if (ts.isVariableDeclaration(node) && ts.isObjectBindingPattern(node.name) && isResult(node.initializer)) {
    return takesRows(node.name)
  }
  return false
}

function takesRows({ elements }: ts.ObjectBindingPattern): boolean {
  return elements.some(({ name, propertyName }) => (propertyName ?? name).getText() === 'rows')
}

function isReadByThen({ parent }: ts.Node): boolean {
  if (!ts.isPropertyAccessExpression(parent) || parent.name.text !== 'then') return false
  if (!ts.isCallExpression(parent.parent)) return false
  const [reader] = parent.parent.arguments
  return reader !== undefined && ts.isArrowFunction(reader) && reader.parameters.length > 0
}

/** Whether it is the result of a statement, awaited or not. */
function isResult(node: ts.Node | undefined): boolean {
  if (node === undefined) return false
  if (ts.isParenthesizedExpression(node) || ts.isAwaitExpression(node) || ts.isAsExpression(node)) {
    return isResult(node.expression)
  }
  return ts.isCallExpression(node) && isStatement(node)
}

/** Whether it runs a statement whose rows may be of any type. `unknown[]` promises nothing of them. */
function isStatement({ expression, typeArguments }: ts.CallExpression): boolean {
  const isUnknown = typeArguments?.every(type => type.getText() === 'unknown[]') ?? false
  return (
    !isUnknown &&
    ts.isPropertyAccessExpression(expression) &&
    ['query', 'execute'].includes(expression.name.text)
  )
}
