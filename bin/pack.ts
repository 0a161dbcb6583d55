import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { stripTypeScriptTypes } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/*
 * `npm pack` runs this before it packs, and once more with `clean` after it. It writes `dist/`, which is what the package
 * runs: the sources without their types, because Node strips none below `node_modules`.
 *
 * Types become spaces, so a line and a column in a stack trace are those of the source. `bin/ferry` runs `src/` where
 * that is, and `dist/` in an installed package.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const DIST = join(ROOT, 'dist')

/** How a module of Ferry imports another one: the words before its name, and its name without the ending. */
const IMPORTED = /\b(from\s*|import\s*\(?\s*)'([.#][^']*)\.ts'/g

rmSync(DIST, { recursive: true, force: true })
if (process.argv[2] !== 'clean') pack()

function pack(): void {
  for (const path of globSync('{src,jobs}/**/*.ts', { cwd: ROOT })) {
    const source = stripTypeScriptTypes(readFileSync(join(ROOT, path), 'utf8'))
    write(path.replace(/\.ts$/, '.js'), source.replace(IMPORTED, "$1'$2.js'"))
  }
  const asTheyAre = ['src/http/console/assets/*', 'drizzle/*.{sql,json}', 'drizzle/meta/_journal.json']
  for (const path of globSync(asTheyAre, { cwd: ROOT })) cpSync(join(ROOT, path), join(DIST, path))
  const { name, version, type, imports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  write('package.json', JSON.stringify({ name, version, type, imports }))
}

function write(path: string, text: string): void {
  const file = join(DIST, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, text)
}
