import { globSync, readFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Client, DatabaseError } from 'pg'
import { loadObjects, missingFrom, type ObjectName } from './sql-objects.ts'

const ROOT = fileURLToPath(new URL('..', import.meta.url))

/** The current text of one function, with its triggers, or of one view. */
export type SqlFile = { readonly path: string; readonly name: string; readonly text: string }

/** A file, and what it made. */
export type AppliedFile = SqlFile & { readonly made: readonly ObjectName[] }

/** Returns every file in a folder `sql` of a room. */
export function readSqlFiles(root = ROOT): SqlFile[] {
  return globSync('src/**/sql/*.sql', { cwd: root })
    .sort()
    .map(path => ({ path, name: basename(path, '.sql'), text: readFileSync(join(root, path), 'utf8') }))
}

/**
 * Runs the files in a transaction of the caller, in a schema that has none of their objects. Returns them in an order in
 * which they succeed: one that needs what another makes comes after it. Throws what Postgres says if there is no order.
 */
export async function applyFiles(client: Client, files: readonly SqlFile[]): Promise<AppliedFile[]> {
  const applied: AppliedFile[] = []
  let waiting = files
  while (waiting.length > 0) {
    const failed: SqlFile[] = []
    let reason: DatabaseError | null = null
    for (const file of waiting) {
      const before = await loadObjects(client)
      const failure = await attempt(client, file.text)
      if (failure) {
        failed.push(file)
        reason = failure
      } else applied.push({ ...file, made: missingFrom(before, await loadObjects(client)) })
    }
    if (failed.length === waiting.length) {
      throw new Error(`${failed.map(file => file.path).join(', ')}: ${reason?.message}`, { cause: reason })
    }
    waiting = failed
  }
  return applied
}

/** Runs a text in a transaction of the caller. Returns null, or why Postgres refused it: then nothing is left of it. */
export async function attempt(client: Client, text: string): Promise<DatabaseError | null> {
  await client.query('savepoint attempt')
  try {
    await client.query(text)
    await client.query('release savepoint attempt')
    return null
  } catch (error) {
    if (!(error instanceof DatabaseError)) throw error
    await client.query('rollback to savepoint attempt')
    return error
  }
}

/**
 * Does some work in a transaction, and takes it back. No schema is searched, so that every name of `ferry` is written
 * with its schema, whoever is connected.
 */
export async function rehearse<T>(client: Client, work: () => Promise<T>): Promise<T> {
  await client.query("begin; set local search_path = ''")
  try {
    return await work()
  } finally {
    await client.query('rollback')
  }
}
