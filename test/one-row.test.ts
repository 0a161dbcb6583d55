import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, test } from 'vitest'

/*
 * A count of 1 reads right: "1 row", never "1 rows". A number before a plural is a constant, or stands where it cannot be 1; any other
 * is worded by `counted` of `src/model/counted.ts`.
 */

const NOUNS =
  '(account|address|alert rule|batch|bar|byte|call|change|character|component|connection|day|decision|duplicate|evaluation|event|field|file|firing|folder|hour|import|inventorie|item|line|message|migration|minute|MCP server|night|other|permit|recipient|reject|removal|row|rule|run|schedule|second|server|setting|snapshot|subscriber|table|time|token|tool|version|worker)'
const PLURAL = new RegExp(`^(</\\w+>)? ([a-z]+ )?${NOUNS}e?s\\b`)

/** Numbers that are never 1 though nothing beside them says so, and why. */
const NEVER_ONE: Readonly<Record<string, string>> = {
  'src/cli/acted-by.ts: max characters': 'a constant',
  'src/cli/demo.ts: ferryThere imports': 'a command',
  'src/cli/demo.ts: ferryThere runs': 'a command',
  'src/cli/demo/import-people.ts: missing subscribers':
    'only a fault of the demo says it, with two other numbers',
  'src/cli/doctor/database.ts: allowed connections': 'Postgres allows more to start at all',
  'src/cli/output.ts: number(text.length) characters': 'it is longer than a cell',
  'src/cli/verify.ts: number(broken) rows': 'more than are named',
  'src/db/verify-calls.ts: call(row) has times': 'no number',
  'src/http/console/now/verdict.ts: count imports': 'more than are named',
  'src/http/console/now/verdict.ts: decisions decisions': 'a full list',
  'src/http/console/page.ts: issue.maximum characters': 'a constant',
  'src/imports/reporting/verify-batches.ts: batch(row) has lines': 'no number',
  'src/inventory/history/compare-page.ts: pageOf(resource) as rows': 'SQL',
  'src/inventory/verify/history.ts: resource runs': 'no number',
  'src/platform/call-warnings.ts: this.#expiredInARow permits': 'every tenth',
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FOUND = globSync('{src,jobs}/**/*.ts', { cwd: ROOT }).flatMap(path =>
  numbersIn(readFileSync(join(ROOT, path), 'utf8')).map(number => `${path}: ${number}`),
)

test('a count of 1 is worded as one', () => {
  expect(FOUND.filter(place => !(place in NEVER_ONE))).toEqual([])
})

test('what is said to be never 1 is there', () => {
  expect(Object.keys(NEVER_ONE).filter(place => !FOUND.includes(place))).toEqual([])
})

/** As it is written in a file, with `#{` for the beginning of a place. */
const written = (text: string) => text.replaceAll('#', '$')

test.for([
  '`#{n} rows`',
  '`of #{n} rows`',
  '`#{number(n)} rejected rows`',
  'html`<b>#{n}</b> rows were read`',
])('is noticed: %s', text => {
  expect(numbersIn(written(text))).not.toEqual([])
})

test.for([
  "`#{counted(n, 'row')} of #{MAX_ROWS} rows`",
  '`#{n} row`',
  '`#{number(MAX_ROWS)} rows, #{WITHIN_MS / 60_000} minutes`',
  "n === 1 ? 'one row' : `#{n} rows`",
])('is allowed: %s', text => {
  expect(numbersIn(written(text))).toEqual([])
})

/** The numbers before a plural that may be 1, each as it is written. */
function numbersIn(text: string): string[] {
  const source = ts.createSourceFile('a.ts', text, ts.ScriptTarget.Latest, true)
  const found: string[] = []
  function visit(node: ts.Node): void {
    if (ts.isTemplateSpan(node) && PLURAL.test(node.literal.text) && mayBeOne(node)) {
      const [plural = ''] = PLURAL.exec(node.literal.text) ?? []
      found.push(`${node.expression.getText()}${plural}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source)
  return found
}

function mayBeOne({ expression, parent }: ts.TemplateSpan): boolean {
  if (/^(counted\(|(number\()?[A-Z][A-Z\d_.]+\b)/.test(expression.getText())) return false
  for (let node: ts.Node = parent; node.parent; node = node.parent) {
    const { parent: whole } = node
    if (
      ts.isConditionalExpression(whole) &&
      whole.whenFalse === node &&
      /=== 1\b/.test(whole.condition.getText())
    )
      return false
  }
  return true
}
