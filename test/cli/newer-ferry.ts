import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { MigrationLock } from '#src/db/migration-plan.ts'

const ROOT = fileURLToPath(new URL('../..', import.meta.url))

const NEXT =
  "CREATE TABLE ferry.next (id integer PRIMARY KEY);\n--> statement-breakpoint\nCOMMENT ON TABLE ferry.next IS 'New.';\n"

/**
 * A copy of this project with one more migration: the release after this one, if `worksWithThis`, otherwise a later one. `when`
 * is the time of that migration.
 */
export function makeNewerFerry({
  sql = NEXT,
  locks = [],
  worksWithThis = false,
}: {
  sql?: string
  locks?: readonly MigrationLock[]
  worksWithThis?: boolean
} = {}): Disposable & { readonly entry: string; readonly when: number } {
  const directory = mkdtempSync(join(tmpdir(), 'ferry-newer-'))
  for (const name of ['src', 'jobs', 'drizzle', 'package.json']) {
    cpSync(join(ROOT, name), join(directory, name), { recursive: true })
  }
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'))
  const file = join(directory, 'drizzle/meta/_journal.json')
  const journal: { entries: { when: number; [key: string]: unknown }[] } = JSON.parse(
    readFileSync(file, 'utf8'),
  )
  const idx = journal.entries.length
  const last = journal.entries.at(-1)
  const when = (last?.when ?? 0) + 1
  journal.entries.push({ ...last, idx, when, tag: 'next' })
  writeFileSync(file, JSON.stringify(journal))
  writeFileSync(join(directory, 'drizzle/next.sql'), sql)
  writeFileSync(join(directory, 'drizzle/locks.json'), JSON.stringify({ next: locks }))
  writeFileSync(
    join(directory, 'drizzle/releases.json'),
    JSON.stringify(worksWithThis ? { '0.0.1': last?.when } : {}),
  )
  return {
    entry: join(directory, 'src/cli/ferry.ts'),
    when,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true }),
  }
}
