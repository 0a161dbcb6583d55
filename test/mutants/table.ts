import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'

/** One change to the code, small and wrong, that a test must notice. */
export type Mutant = {
  /** The name of its table, a slash, and its own. */
  readonly name: string
  /** What it changes: a file, or a function or view of the database by its name. */
  readonly target: { readonly file: string } | { readonly sql: string }
  readonly find: string
  readonly replacement: string
  /** The test files that are to notice; of their tests only those whose title matches `only`, if that is given. */
  readonly tests: readonly string[]
  readonly only: string | null
  /** Why no test can notice it; null for one that must be noticed. */
  readonly harmless: string | null
}

/**
 * Reads the tables beside this file. A table is text, so that code stands in it as it is:
 *
 *     @ file src/inventory/sync-source.ts     what the mutants that follow change; or
 *     @ sql acquire_permit                         a function or view, wherever the last migration that makes it is
 *     @ tests test/inventory/removals.test.ts who is to notice, files with spaces between
 *     @ only a person                         of their tests, those whose title matches this expression
 *
 *     = absent-twice                          the name of a mutant
 *     ! why it is harmless                    only for one that no test can notice
 *     - plan.absent.filter(isAbsentTwice)     the text, which must be there exactly once; runs of space are all one
 *     + plan.absent                           what stands there instead; nothing if it is left out
 *
 * A new `@ file` or `@ sql` forgets `@ only`. Lines that begin with `#` are remarks.
 */
export function readTables(): Mutant[] {
  return globSync('*.txt', { cwd: import.meta.dirname })
    .sort()
    .flatMap(file =>
      parseTable(basename(file, '.txt'), readFileSync(join(import.meta.dirname, file), 'utf8')),
    )
}

function parseTable(table: string, text: string): Mutant[] {
  const mutants: Mutant[] = []
  let target: Mutant['target'] | null = null
  let tests: readonly string[] = []
  let only: string | null = null
  let open: { name: string; find: string[]; replacement: string[]; harmless: string | null } | null = null

  function close(): void {
    if (!open) return
    const { name, find, replacement, harmless } = open
    if (!target || tests.length === 0 || find.length === 0) {
      throw new Error(`${table}/${name} lacks what it changes, the tests that are to notice, or a text`)
    }
    mutants.push({
      name: `${table}/${name}`,
      target,
      find: find.join('\n'),
      replacement: replacement.join('\n'),
      tests,
      only,
      harmless,
    })
    open = null
  }

  for (const [n, line] of text.split('\n').entries()) {
    const [, sign, rest = ''] = /^([@=!+-]) ?(.*)$/.exec(line) ?? []
    if (sign === '@' || sign === '=') close()
    if (sign === '@') {
      const [, word, value = ''] = /^(\w+) (.+)$/.exec(rest) ?? []
      if (word === 'file' || word === 'sql') {
        target = word === 'file' ? { file: value } : { sql: value }
        only = null
      } else if (word === 'tests') tests = value.split(' ')
      else if (word === 'only') only = value
      else throw new Error(`${table}.txt, line ${n + 1}: no such word: ${rest}`)
    } else if (sign === '=') open = { name: rest, find: [], replacement: [], harmless: null }
    else if (sign === '!' && open) open.harmless = rest
    else if (sign === '-' && open) open.find.push(rest)
    else if (sign === '+' && open) open.replacement.push(rest)
    else if (line.trim() !== '' && !line.startsWith('#')) {
      throw new Error(`${table}.txt, line ${n + 1} cannot be read: ${line}`)
    }
  }
  close()
  return mutants
}

/** The file of a mutant, and its text before and after; or why the mutant cannot be applied to the code as it is now. */
export function applyMutant(
  root: string,
  { target, find, replacement }: Mutant,
): { readonly file: string; readonly before: string; readonly after: string } | { readonly stale: string } {
  const found = 'file' in target ? wholeFile(root, target.file) : lastMigrationOf(root, target.sql)
  if (!found) return { stale: 'what it changes is not there any more' }
  const { file, before, from, to } = found
  const hits = [...before.slice(from, to).matchAll(patternOf(find))]
  const [hit] = hits
  if (!hit || hits.length > 1) return { stale: `its text is in ${file} ${hits.length} times, not once` }
  const at = from + hit.index
  return { file, before, after: before.slice(0, at) + replacement + before.slice(at + hit[0].length) }
}

function wholeFile(root: string, file: string) {
  if (globSync(file, { cwd: root }).length === 0) return null
  const before = readFileSync(join(root, file), 'utf8')
  return { file, before, from: 0, to: before.length }
}

/** Migrations are never changed: the text that counts is that of the last one that makes the function or view. */
function lastMigrationOf(root: string, name: string) {
  const made = new RegExp(`^CREATE (OR REPLACE )?(FUNCTION|VIEW) ferry\\.${name}\\b`, 'im')
  for (const file of globSync('drizzle/*.sql', { cwd: root }).sort().reverse()) {
    const before = readFileSync(join(root, file), 'utf8')
    const statements = before.split('--> statement-breakpoint')
    const n = statements.findLastIndex(statement => made.test(statement))
    const statement = statements[n]
    if (statement === undefined) continue
    const from = statements.slice(0, n).join('--> statement-breakpoint').length
    // The first of several statements begins at 0; any other after the mark.
    const start = n === 0 ? 0 : from + '--> statement-breakpoint'.length
    return { file, before, from: start, to: start + statement.length }
  }
  return null
}

/** A formatter may break a line elsewhere; that makes no other text. */
function patternOf(text: string): RegExp {
  return new RegExp(text.trim().split(/\s+/).map(RegExp.escape).join('\\s+'), 'g')
}
