import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

/*
 * A table or view belongs to the room whose schema.ts or sql/ makes it. Another room asks that room by a function, in SQL
 * as in TypeScript: what a row means is decided in one place. The tables of db are of no domain, so everybody may name
 * them, as everybody may import db.
 */

/** Who else names what, and why. */
const MAY: Readonly<Record<string, string>> = {
  'reports -> inventory': 'a report is a view over all tables; nothing decides by it',
  'reports -> imports': 'a report is a view over all tables; nothing decides by it',
  'reports -> schedules': 'a report is a view over all tables; nothing decides by it',
  'inventory -> reports: inventories':
    'it says which inventories there are: those read, and those with a target',
  'cli -> inventory': 'the demo shows people the SQL that they can write',
}

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const FILES = globSync(['{src,jobs}/**/*.ts', 'src/**/*.sql'], { cwd: ROOT }).map(path => ({
  path,
  text: readFileSync(join(ROOT, path), 'utf8'),
}))

test('a room names the tables and views of no other room', () => {
  expect(crossings(FILES).filter(crossing => !excusesOf(crossing).some(excuse => excuse in MAY))).toEqual([])
})

test('each exception is made use of', () => {
  const used = new Set(crossings(FILES).flatMap(excusesOf))
  expect(Object.keys(MAY).filter(excuse => !used.has(excuse))).toEqual([])
})

test('a query on the table of another room is noticed, one in a comment is not', () => {
  const files = {
    'src/db/schema.ts': "ferry.table(\n  'leases', {})",
    'src/inventory/schema.ts': "ferry.table('sync_runs', {})",
    'src/reports/sql/freshness.sql': 'CREATE OR REPLACE VIEW ferry.freshness AS SELECT FROM ferry.sync_runs',
    'src/notify/watch.ts':
      '// ferry.sync_runs\n/* ferry.sync_runs */ `select from ferry.freshness, ferry.leases`',
    'src/imports/sending/send.ts': '`select from ferry.sync_runs`',
    'src/inventory/runs/run.ts': '`select from ferry.sync_runs`',
    'src/inventory/sql/runs.sql': '-- ferry.freshness\nSELECT ferry.freshness(1)',
  }
  const made = Object.entries(files).map(([path, text]) => ({ path, text }))
  expect(crossings(made).map(({ from, to, name }) => `${from} -> ${to}: ${name}`)).toEqual([
    'reports -> inventory: sync_runs',
    'notify -> reports: freshness',
    'imports -> inventory: sync_runs',
  ])
})

type File = { readonly path: string; readonly text: string }
type Crossing = { readonly from: string; readonly to: string; readonly name: string; readonly path: string }

function excusesOf({ from, to, name }: Crossing): string[] {
  return [`${from} -> ${to}`, `${from} -> ${to}: ${name}`]
}

function crossings(files: readonly File[]): Crossing[] {
  const owners = new Map(
    files.flatMap(({ path, text }) => madeIn(path, text).map(name => [name, roomOf(path)])),
  )
  return files.flatMap(({ path, text }) => {
    const from = roomOf(path)
    const names = new Set(
      [...withoutComments(path, text).matchAll(/\bferry\.(\w+)\b(?!\()/g)].map(([, name = '']) => name),
    )
    return [...names].flatMap(name => {
      const to = owners.get(name)
      return to === undefined || to === 'db' || to === from ? [] : [{ from, to, name, path }]
    })
  })
}

/** The tables and views that a file makes. */
function madeIn(path: string, text: string): string[] {
  const made = path.endsWith('/schema.ts') ? /\bferry\.table\(\s*'(\w+)'/g : /\bVIEW ferry\.(\w+) AS\b/g
  return [...text.matchAll(made)].map(([, name = '']) => name)
}

/** The four rooms of an import share their tables: they meet in them. */
function roomOf(path: string): string {
  const [top = '', room = ''] = path.replaceAll('\\', '/').split(/[/.]/)
  return top === 'src' ? room : top
}

function withoutComments(path: string, text: string): string {
  const comments = path.endsWith('.sql') ? /--.*$|^COMMENT ON [^;]*;/gm : /\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm
  return text.replaceAll(comments, '')
}
