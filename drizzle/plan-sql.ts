import type { Client } from 'pg'
import { type AppliedFile, applyFiles, attempt, rehearse, type SqlFile } from './sql-files.ts'
import { dropStatements, loadObjects, missingFrom, type ObjectName } from './sql-objects.ts'

/** What makes the objects of a database those that the files give: drops, then the texts of files, in this order. */
export type SqlPlan = { readonly drops: readonly string[]; readonly files: readonly AppliedFile[] }

/** The objects that the files give, by the definition they get in this database. */
export type Wanted = {
  readonly objects: Map<ObjectName, string>
  /** The files in an order in which they can be run. */
  readonly files: readonly AppliedFile[]
}

/** Returns what a database has, and what the files would give it. Changes nothing. */
export function compareSql(client: Client, files: readonly SqlFile[]) {
  return rehearse(client, async () => {
    const present = await loadObjects(client)
    await run(client, dropStatements(present.keys(), 'cascade'))
    const applied = await applyFiles(client, files)
    const wanted: Wanted = { objects: await loadObjects(client), files: applied }
    return { present, wanted }
  })
}

/**
 * Returns what is to be run in a database so that it has what the files give and nothing else. Changes nothing.
 *
 * A file whose objects differ is run as it is: CREATE OR REPLACE keeps the rights that people have granted. Only if
 * Postgres refuses that, or another object comes of it (another signature, a column or a comment taken away), the
 * objects are dropped before, and with them whatever depends on them, whose files are then run too.
 */
export async function planSql(client: Client, files: readonly SqlFile[]): Promise<SqlPlan> {
  const { present, wanted } = await compareSql(client, files)
  const drops = new Set(missingFrom(wanted.objects, present))
  for (;;) {
    const { changed, failed } = await tryDrops(client, wanted, present, drops)
    if (failed.length === 0) return { drops: dropStatements(drops, 'restrict'), files: changed }
    const more = failed.flatMap(file => file.made).filter(name => present.has(name) && !drops.has(name))
    if (more.length === 0) throw new Error(`${failed.map(file => file.path).join(', ')} cannot be applied`)
    for (const name of more) drops.add(name)
  }
}

/** Adds to `drops` what depends on them. */
async function tryDrops(
  client: Client,
  wanted: Wanted,
  present: Map<ObjectName, string>,
  drops: Set<ObjectName>,
) {
  return rehearse(client, async () => {
    await run(client, dropStatements(drops, 'cascade'))
    const left = await loadObjects(client)
    for (const name of missingFrom(left, present)) drops.add(name)
    const changed = wanted.files.filter(file => !isMade(file, wanted, left))
    const failed: AppliedFile[] = []
    for (const file of changed) {
      const refused = await attempt(client, file.text)
      if (refused || !isMade(file, wanted, await loadObjects(client))) failed.push(file)
    }
    return { changed, failed }
  })
}

function isMade(file: AppliedFile, wanted: Wanted, objects: Map<ObjectName, string>): boolean {
  return file.made.every(name => objects.get(name) === wanted.objects.get(name))
}

async function run(client: Client, statements: readonly string[]): Promise<void> {
  for (const statement of statements) await client.query(statement)
}
