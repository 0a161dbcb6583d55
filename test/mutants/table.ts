import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { type Change, OPERATORS } from './make.ts'

/** One change to the code, small and wrong, that a test must notice. */
export type Mutant = {
  /** The name of its table, a slash, and its own. */
  readonly name: string
  readonly change: Change
  /**
   * The test files that are to notice; one that does not exist, or not once, is left as it is named. Of their tests only
   * those whose title matches `only`, if that is given.
   */
  readonly tests: readonly string[]
  readonly only: string | null
  /** Why no test can notice it; null for one that must be noticed. */
  readonly harmless: string | null
}

/**
 * Reads the tables beside this file. A line that begins at the margin names the tests that are to notice the mutants below
 * it: as much of the end of their path as tells one file, and perhaps an expression for their titles. Each line below is a
 * mutant; `make.ts` and CONTRIBUTING.md say how its change is named. Lines that begin with `#` are remarks.
 *
 *     second-listing inventory/holds /a person/
 *       absent-twice: decide unwrap filter
 *       partial-knows-all: syncSource make partial = absent # why no test can notice it
 */
export function readTables(root: string): Mutant[] {
  const files = globSync('test/**/*.test.ts', { cwd: root })
  return globSync('*.txt', { cwd: import.meta.dirname })
    .sort()
    .flatMap(table => {
      const text = readFileSync(join(import.meta.dirname, table), 'utf8')
      return parseTable(basename(table, '.txt'), text, files)
    })
}

function parseTable(table: string, text: string, files: readonly string[]): Mutant[] {
  const mutants: Mutant[] = []
  let tests: readonly string[] = []
  let only: string | null = null
  for (const [n, line] of text.split('\n').entries()) {
    if (line === '' || line.startsWith('#')) continue
    const where = `test/mutants/${table}.txt:${n + 1}`
    const [, name, change = '', harmless = null] = /^ {2}([\w-]+): (.+?)(?: # (.+))?$/.exec(line) ?? []
    if (name !== undefined) {
      mutants.push({ name: `${table}/${name}`, change: parseChange(change, where), tests, only, harmless })
      continue
    }
    const [, names = '', title = null] = /^(\w[\w./-]*(?: \w[\w./-]*)*)(?: \/(.+)\/)?$/.exec(line) ?? []
    if (names === '') throw new Error(`${where} cannot be read: ${line}`)
    tests = names.split(' ').map(name => testNamed(name, files))
    only = title
  }
  return mutants
}

export function parseChange(text: string, where: string): Change {
  const [, scope = '', verb, words = '', replacement = null] =
    /^(\S+) (\w+) (.+?)(?: =(?: (.*))?)?$/.exec(text) ?? []
  const operator = OPERATORS.find(name => name === verb)
  if (!operator) throw new Error(`${where}: no such operator: ${verb ?? text}`)
  const [, named = words, nth] = /^(.+) @(\d+)$/.exec(words) ?? []
  const bringsText = operator === 'make' || operator === 'swap'
  return {
    scope,
    operator,
    words: named.split(' '),
    nth: nth === undefined ? null : Number(nth),
    replacement: bringsText ? (replacement ?? '') : null,
  }
}

function testNamed(name: string, files: readonly string[]): string {
  const [file, ...more] = files.filter(file => file.endsWith(`/${name}.test.ts`))
  return file && more.length === 0 ? file : name
}
