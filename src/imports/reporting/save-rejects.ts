import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Pool } from 'pg'
import { reasonOf } from '#src/model/reason.ts'
import { rejectsFile } from './rejects.ts'

/** The file of rejects could not be written; what was at its path before is still there. */
export class RejectsNotSaved extends Error {
  override readonly name = 'RejectsNotSaved'
  readonly whatToDo: string

  constructor(path: string, cause: unknown) {
    const isFull = cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC'
    super(`The rejects were not written to ${path}: ${isFull ? 'the disk is full' : reasonOf(cause)}.`, {
      cause,
    })
    this.whatToDo = isFull
      ? 'Free disk space, or choose another place. The rejects are still in the database.'
      : 'Choose a place that this user may write to. The rejects are still in the database.'
  }
}

/**
 * Writes the rejects of an import to `path`, all of them or nothing, and replaces the file that is there. Returns how many.
 * Throws `RejectsNotSaved`.
 */
export async function saveRejects(pool: Pool, id: bigint, path: string): Promise<number> {
  const isReplaceable = await stat(path).then(
    found => found.isFile(),
    () => true,
  )
  // A device or a pipe cannot be replaced: it is written to.
  if (!isReplaceable) return writeFile(pool, id, path, path)
  const unfinished = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`)
  const rows = await writeFile(pool, id, unfinished, path)
  await rename(unfinished, path).catch(async error => {
    await rm(unfinished, { force: true }).catch(() => {})
    throw new RejectsNotSaved(path, error)
  })
  return rows
}

async function writeFile(pool: Pool, id: bigint, path: string, wanted: string): Promise<number> {
  let rows = 0
  async function* texts() {
    for await (const part of rejectsFile(pool, id)) {
      rows += part.rows
      yield part.text
    }
  }
  try {
    // It holds personal data: nobody else may read it.
    await using file = await open(path, 'w', 0o600)
    await file.writeFile(texts())
    if (path !== wanted) await file.sync()
    return rows
  } catch (error) {
    if (path !== wanted) await rm(path, { force: true }).catch(() => {}) // the error before says more
    throw error instanceof Error && 'syscall' in error ? new RejectsNotSaved(wanted, error) : error
  }
}
