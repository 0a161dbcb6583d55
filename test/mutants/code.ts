import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import ts from 'typescript'
import { type Site, type Token, tokensOf } from './sites.ts'
import { sqlSites } from './sql-sites.ts'
import { typescriptSites } from './typescript-sites.ts'

/** A part of the code with a name, in which a mutant is made. */
export type Scope = {
  readonly file: string
  readonly text: string
  readonly from: number
  readonly to: number
  readonly tokens: () => readonly Token[]
  readonly sites: () => readonly Site[]
}

/**
 * Finds the parts of the code below a directory by name: `openReader` is a declaration of `src` or `jobs`, in whichever file
 * it stands; `openReader.push` what is called `push` in it; `csv/openReader` the one in `csv.ts`; and `claim_next_batch.sql` a
 * function or view, as the last migration that makes it says.
 */
export type Code = (name: string) => readonly Scope[]

export type File = { readonly file: string; readonly text: string }

/** At the margin, as the formatter leaves every declaration that is not in another. */
const DECLARED = /^(?:(?:export|async|abstract) )*(?:function\*?|const|let|class) ([\w$]+)/gm

export function openCode(root: string): Code {
  const read = (pattern: string): File[] =>
    globSync(pattern, { cwd: root })
      .sort()
      .map(file => ({ file, text: readFileSync(join(root, file), 'utf8') }))
  const filesOf = Map.groupBy(
    read('{src,jobs}/**/*.ts').flatMap(file =>
      [...file.text.matchAll(DECLARED)].map(([, name]) => ({ name, file })),
    ),
    ({ name }) => name,
  )
  const migrations = read('drizzle/*.sql').reverse()
  const parse = remembered(({ file, text }: File) =>
    ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true),
  )

  return remembered((name: string) => {
    if (name.endsWith('.sql')) return findInMigrations(migrations, basename(name, '.sql'))
    const [inner = '', ...path] = name.split('/').reverse()
    const names = inner.split('.')
    const ending = path.length > 0 ? `/${path.reverse().join('/')}.ts` : ''
    const files = new Set(filesOf.get(names[0])?.map(({ file }) => file))
    return [...files].flatMap(file => {
      if (!file.file.endsWith(ending)) return []
      const tree = parse(file)
      return declared(tree.statements, names).map(node =>
        scopeOf(file, node.getStart(tree), node.end, () => typescriptSites(tree, node)),
      )
    })
  })
}

function scopeOf({ file, text }: File, from: number, to: number, sites: () => Site[]): Scope {
  const tokens = remembered(() => tokensOf(text, from, to))
  const places = remembered(sites)
  return { file, text, from, to, tokens: () => tokens(null), sites: () => places(null) }
}

/** The declarations among these nodes that are named by the first part, and in them what is named by the rest. */
function declared(nodes: readonly ts.Node[], [name, ...rest]: readonly string[]): ts.Node[] {
  const outer = nodes
    .flatMap(node => (ts.isVariableStatement(node) ? node.declarationList.declarations : [node]))
    .filter(node => nameOf(node) === name)
  return rest.length === 0 ? outer : outer.flatMap(node => within(node, rest))
}

function within(node: ts.Node, [name, ...rest]: readonly string[]): ts.Node[] {
  const hits: ts.Node[] = []
  const visit = (child: ts.Node): void => {
    if (nameOf(child) === name) hits.push(...(rest.length === 0 ? [child] : within(child, rest)))
    else ts.forEachChild(child, visit)
  }
  ts.forEachChild(node, visit)
  return hits
}

/** What a declaration, a member of a class or a property of an object is called. */
function nameOf(node: ts.Node): string | null {
  const isNamed =
    ts.isFunctionLike(node) ||
    ts.isClassDeclaration(node) ||
    ts.isVariableDeclaration(node) ||
    ts.isPropertyDeclaration(node) ||
    ts.isPropertyAssignment(node)
  const name = isNamed ? node.name : undefined
  return name && (ts.isIdentifier(name) || ts.isPrivateIdentifier(name)) ? name.text : null
}

/** Migrations are never changed: the text that counts is that of the last one that makes the function or view. */
function findInMigrations(migrations: readonly File[], name: string): Scope[] {
  const made = new RegExp(`^CREATE (OR REPLACE )?(FUNCTION|VIEW) \\w+\\.${name}\\b`, 'im')
  for (const file of migrations) {
    const statements = [...file.text.matchAll(/(?:(?!--> statement-breakpoint)[\s\S])+/g)]
    const last = statements.findLast(([statement]) => made.test(statement))
    if (!last) continue
    const from = last.index + last[0].search(made)
    const to = last.index + last[0].length
    return [scopeOf(file, from, to, () => sqlSites(file.text, from, to))]
  }
  return []
}

/** Every function and view, as the last migration that makes it says. */
export function migratedScopes(migrations: readonly File[]): (Scope & { readonly name: string })[] {
  const names = migrations.flatMap(({ text }) =>
    [...text.matchAll(/^CREATE (?:OR REPLACE )?(?:FUNCTION|VIEW) \w+\.(\w+)/gim)].map(
      ([, name = '']) => name,
    ),
  )
  const latestFirst = migrations.toReversed()
  return [...new Set(names)].flatMap(name =>
    findInMigrations(latestFirst, name).map(scope => ({ ...scope, name })),
  )
}

/** Asks for each key only once. */
function remembered<Key, Value>(ask: (key: Key) => Value): (key: Key) => Value {
  const known = new Map<Key, { readonly value: Value }>()
  return key => {
    const found = known.get(key) ?? { value: ask(key) }
    known.set(key, found)
    return found.value
  }
}
