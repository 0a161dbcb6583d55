import { cpSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { pathOf } from './pages.ts'

const LEFT_OUT = ['node_modules', '.git', '.ferry', 'bench/results']

/** What CONTRIBUTING.md names as an example of a view to change. */
const VIEW = 'src/inventory/sql/alert_rules.sql'

/**
 * The path of a copy of Ferry's directory below `home`, for commands that write there: one copy, made at the first call. A
 * view is changed in it, so that there is something to generate.
 */
export function copyOfFerry(home: string): string {
  const copy = join(home, 'ferry-copy')
  if (existsSync(copy)) return copy
  const root = pathOf('.')
  cpSync(root, copy, { recursive: true, filter: path => !LEFT_OUT.includes(relative(root, path)) })
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'))
  const view = readFileSync(join(copy, VIEW), 'utf8')
  writeFileSync(join(copy, VIEW), view.replace(/(comment on view .* is\s+')/i, '$1Changed. '))
  return copy
}
