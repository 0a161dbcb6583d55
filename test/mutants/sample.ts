import { globSync, readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import ts from 'typescript'
import { seededRandom } from '#src/sandbox/random.ts'
import { type File, migratedScopes } from './code.ts'
import type { Made } from './make.ts'
import type { Site } from './sites.ts'
import { typescriptSites } from './typescript-sites.ts'

/*
 * Mutants by chance, to learn what share of all small faults the tests would notice: any place of `src`, `jobs` and the functions
 * and views of the database, each as likely as the next. Those that are no TypeScript any more are left out.
 */

export type Sampled = { readonly name: string; readonly made: Made; readonly tests: readonly string[] }

/** Test files that are asked of each mutant, the nearest first. */
const MAX_TESTS = 12

/** A shorter word of a file's name says little about what a test is about. */
const MIN_TOPIC_LENGTH = 5

/** Signs and words that are easily mistaken for each other. */
const SWAPS: Readonly<Record<string, string>> = {
  '<': '<=',
  '<=': '<',
  '>': '>=',
  '>=': '>',
  '===': '!==',
  '!==': '===',
  '&&': '||',
  '||': '&&',
  '+': '-',
  '-': '+',
  true: 'false',
  false: 'true',
}

/** Returns `count` mutants that compile, the same ones for the same seed. */
export function sampleMutants(root: string, count: number, seed: number): Sampled[] {
  const read = (pattern: string): File[] =>
    globSync(pattern, { cwd: root })
      .sort()
      .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const sources = read('{src,jobs}/**/*.ts')
  const places = [...sources.flatMap(placesOfTypeScript), ...placesOfSql(read('drizzle/*.sql'))]
  const nearest = nearestTests(sources, read('test/**/*.ts'))
  const compiles = compilerOf(root, sources)
  const random = seededRandom(seed)
  const sampled: Sampled[] = []
  while (sampled.length < count && places.length > 0) {
    const [place] = places.splice(Math.floor(random() * places.length), 1)
    const made = place && madeAt(place)
    if (!made || made.after === made.before || !compiles(made)) continue
    sampled.push({
      name: `${seed}/${sampled.length + 1}`,
      made,
      tests: nearest(made.file, place),
    })
  }
  return sampled
}

/** What stands in `file` between `from` and `to` becomes `text`. */
type Place = {
  readonly file: File
  readonly from: number
  readonly to: number
  readonly text: string
  /** The declaration, function or view. */
  readonly within: string
  /** What it says: a test that expects one of these is likely to notice. */
  readonly phrases?: readonly string[]
}

function madeAt({ file: { file, text: before }, from, to, text }: Place): Made {
  const after = before.slice(0, from) + text + before.slice(to)
  return { file, before, after, from, to: from + text.length }
}

function placesOfTypeScript(file: File): Place[] {
  const tree = ts.createSourceFile(file.file, file.text, ts.ScriptTarget.Latest, true)
  return tree.statements.flatMap(statement => {
    if (ts.isImportDeclaration(statement) || ts.isTypeAliasDeclaration(statement)) return []
    const [, within = ''] = /(?:function\*?|const|class) ([\w$]+)/.exec(statement.getText(tree)) ?? []
    const words = wordsForPeople(tree, statement)
    const isOfWords = ({ from, to }: { from: number; to: number }) =>
      words.some(word => word.from <= from && to <= word.to)
    const sites = typescriptSites(tree, statement).filter(({ edit }) => !isOfWords(edit))
    const phrases = phrasesIn(statement.getText(tree))
    return [...editsOf(sites), ...swapped(tree, statement)].map(edit => ({ file, within, phrases, ...edit }))
  })
}

/** Words between quotes and placeholders, long enough to stand in few places. */
function phrasesIn(text: string): string[] {
  const found = text.matchAll(/['`}]([^'`$\n{}]{12,}?)(?=['`]|\$\{)/g)
  return [...found].map(([, phrase = '']) => phrase.trim()).filter(phrase => phrase.includes(' '))
}

/** A string that begins so, or names one of Ferry's tables, is SQL. */
const SQL =
  /^.\s*\(?(?:with|select|insert|update|delete|order by|and|where|exists)\b|\bferry(?:_internal)?\.\w/

/** Strings that are no SQL: `typescriptSites` reads every string as SQL. */
function wordsForPeople(tree: ts.SourceFile, statement: ts.Node) {
  const found: { from: number; to: number }[] = []
  const visit = (node: ts.Node): void => {
    const isText = ts.isStringLiteralLike(node) || ts.isTemplateExpression(node)
    if (isText && !SQL.test(node.getText(tree))) {
      found.push({ from: node.getStart(tree) + 1, to: node.end - 1 })
    }
    ts.forEachChild(node, visit)
  }
  visit(statement)
  return found
}

function placesOfSql(migrations: readonly File[]): Place[] {
  return migratedScopes(migrations).flatMap(({ name, file, text, sites }) =>
    editsOf(sites())
      .filter(({ from }) => !isInComment(text, from))
      .map(edit => ({ file: { file, text }, within: name, ...edit })),
  )
}

/** What describes an object to people is no code. */
function isInComment(sql: string, at: number): boolean {
  return sql.startsWith('COMMENT ON', sql.lastIndexOf('\n', at) + 1)
}

/** `make` would need a text of its own, and what is exchanged is mostly the same either way. */
function editsOf(sites: readonly Site[]): Site['edit'][] {
  return sites.flatMap(({ operator, edit }) => (['make', 'later'].includes(operator) ? [] : [edit]))
}

/** Numbers, signs and conditions that are others. */
function swapped(tree: ts.SourceFile, statement: ts.Node): Site['edit'][] {
  const edits: Site['edit'][] = []
  const replace = (node: ts.Node, text: string) =>
    edits.push({ from: node.getStart(tree), to: node.end, text })
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node)) return
    if (ts.isNumericLiteral(node)) replace(node, `(${node.text} + 1)`)
    const isSign = ts.isBinaryExpression(node.parent) && node.parent.operatorToken === node
    const isTruth = node.kind === ts.SyntaxKind.TrueKeyword || node.kind === ts.SyntaxKind.FalseKeyword
    const other = isSign || isTruth ? SWAPS[node.getText(tree)] : undefined
    if (other !== undefined) replace(node, other)
    if (ts.isIfStatement(node)) replace(node.expression, `!(${node.expression.getText(tree)})`)
    if (ts.isConditionalExpression(node)) replace(node.condition, `!(${node.condition.getText(tree)})`)
    ts.forEachChild(node, visit)
  }
  visit(statement)
  return edits
}

/** Returns what says whether a mutant has the types that its file needs. SQL is not looked at: Postgres says it. */
function compilerOf(root: string, sources: readonly File[]): (made: Made) => boolean {
  const { config } = ts.readConfigFile(join(root, 'tsconfig.json'), ts.sys.readFile)
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, root)
  const changed = new Map<string, { text: string; version: number }>()
  const service = ts.createLanguageService({
    getCompilationSettings: () => options,
    getScriptFileNames: () => sources.map(({ file }) => join(root, file)),
    getScriptVersion: path => `${changed.get(path)?.version ?? 0}`,
    getScriptSnapshot(path) {
      const text = changed.get(path)?.text ?? ts.sys.readFile(path)
      return text === undefined ? undefined : ts.ScriptSnapshot.fromString(text)
    },
    getCurrentDirectory: () => root,
    getDefaultLibFileName: ts.getDefaultLibFilePath,
    fileExists: ts.sys.fileExists,
    readFile: ts.sys.readFile,
  })
  let version = 0
  const put = (path: string, text: string) => changed.set(path, { text, version: ++version })
  /** A value that nobody uses any more is no fault of types. */
  const UNUSED = new Set([6133, 6192, 6196, 6198, 7027])
  return ({ file, before, after }) => {
    if (!file.endsWith('.ts')) return true
    const path = join(root, file)
    put(path, after)
    const faults = [...service.getSyntacticDiagnostics(path), ...service.getSemanticDiagnostics(path)]
    put(path, before)
    return faults.every(({ code }) => UNUSED.has(code))
  }
}

/** Returns what finds the tests of a part of a file: those that lead to the file by the fewest imports, and name it or the part. */
function nearestTests(sources: readonly File[], tests: readonly File[]) {
  const files = new Map([...sources, ...tests].map(one => [one.file, one.text]))
  const importsOf = new Map([...files].map(([file, text]) => [file, importedBy(file, text)]))
  const testFiles = tests.filter(({ file }) => file.endsWith('.test.ts'))
  const distances = new Map(testFiles.map(({ file }) => [file, distancesFrom(file, importsOf)]))
  return (file: string, { within, phrases = [] }: Place): string[] => {
    const isSql = file.endsWith('.sql')
    const named = isSql ? sources.filter(({ text }) => text.includes(within)).map(one => one.file) : [file]
    const words = isSql ? within.split('_') : wordsOf(file)
    const distinct = words.filter(word => word.length >= MIN_TOPIC_LENGTH)
    const scores = testFiles.map(({ file: test, text }) => {
      const distance = Math.min(...named.map(one => distances.get(test)?.get(one) ?? 20))
      const alike = wordsOf(test).filter(word => words.includes(word)).length
      const mentions = within !== '' && text.includes(within) ? 3 : 0
      const topics = distinct.filter(word => text.includes(word)).length
      const expected = phrases.some(phrase => text.includes(phrase)) ? 6 : 0
      return { test, score: distance - 2 * alike - mentions - topics - expected }
    })
    const inOrder = scores.toSorted((one, other) => one.score - other.score)
    return inOrder.slice(0, MAX_TESTS).map(({ test }) => test)
  }
}

/** Also what is run in a process of its own, by its path. */
function importedBy(file: string, text: string): string[] {
  const named = text.matchAll(/(?:from |import\(|import )'([#.][^']+\.ts)'|'((?:src|jobs)\/[^']+\.ts)'/g)
  return [...named].flatMap(([, module, path]) => {
    if (path !== undefined) return [path]
    if (module === undefined) return []
    return module.startsWith('#') ? [module.slice(1)] : [join(dirname(file), module)]
  })
}

function distancesFrom(from: string, importsOf: ReadonlyMap<string, readonly string[]>): Map<string, number> {
  const found = new Map([[from, 0]])
  for (const [file, distance] of found) {
    for (const next of importsOf.get(file) ?? []) if (!found.has(next)) found.set(next, distance + 1)
  }
  return found
}

function wordsOf(file: string): string[] {
  return [...dirname(file).split('/').slice(1), ...basename(file).split(/[-.]/)].filter(
    word => !['ts', 'test'].includes(word),
  )
}
