import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Pool } from 'pg'
import { reasonOf } from '#src/model/reason.ts'
import { listRejects, loadFileShape } from '#src/store/imports/rejects.ts'
import { csvOfRejects, ndjsonOfRejects } from './file/reject-lines.ts'

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
      ? 'Make room, or choose another place; the rejects are still in the database.'
      : 'Choose a place that this user may write to; the rejects are still in the database.'
  }
}

/** Yields parts of the file of rejects, and counts the rejects in them. */
type Parts = AsyncGenerator<{ readonly text: string; readonly rows: number }>

/**
 * Writes the rejects of an import as a file that can be corrected and imported again; returns how many. It has the
 * columns of the file they come from, and after them `line`, `reason`, `message` and `request_id`. For NDJSON, NDJSON.
 *
 * A cell that a spreadsheet would run as a formula is kept from it, and is itself again when imported (see
 * `file/reject-cells.ts`). A line that could not be taken apart is the first cell, or the key `raw`.
 */
export async function writeRejects(pool: Pool, id: bigint, out: Writable): Promise<number> {
  let rows = 0
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => {}) // raced with every write
  out.on('error', reject)
  try {
    for await (const part of partsOf(pool, id)) {
      await Promise.race([broken, written(out, part.text)])
      rows += part.rows
    }
    return rows
  } finally {
    out.off('error', reject)
  }
}

/** Writes the rejects to `path`, all of them or nothing; what was there is replaced. Throws `RejectsNotSaved`. */
export async function saveRejects(pool: Pool, id: bigint, path: string): Promise<number> {
  const isReplaceable = await stat(path).then(
    found => found.isFile(),
    () => true,
  )
  // A device or a pipe is written to as it is.
  if (!isReplaceable) return intoFile(pool, id, path, path)
  const unfinished = join(dirname(path), `.${basename(path)}.${randomBytes(4).toString('hex')}.part`)
  const rows = await intoFile(pool, id, unfinished, path)
  await rename(unfinished, path).catch(async error => {
    await rm(unfinished, { force: true }).catch(() => {})
    throw new RejectsNotSaved(path, error)
  })
  return rows
}

async function intoFile(pool: Pool, id: bigint, path: string, wanted: string): Promise<number> {
  let rows = 0
  async function* texts() {
    for await (const part of partsOf(pool, id)) {
      rows += part.rows
      yield part.text
    }
  }
  try {
    // It is full of people: nobody else is to read it.
    await using file = await open(path, 'w', 0o600)
    await file.writeFile(texts())
    if (path !== wanted) await file.sync()
    return rows
  } catch (error) {
    if (path !== wanted) await rm(path, { force: true }).catch(() => {}) // the error before says more
    throw error instanceof Error && 'syscall' in error ? new RejectsNotSaved(wanted, error) : error
  }
}

async function* partsOf(pool: Pool, id: bigint): Parts {
  const shape = await loadFileShape(pool, id)
  if (!shape) return
  const { columns, options } = shape
  const file = columns === null ? ndjsonOfRejects() : csvOfRejects(columns, options.file?.delimiter ?? ',')
  yield { text: file.header, rows: 0 }
  for await (const rejects of listRejects(pool, id)) {
    yield { text: rejects.map(file.lineOf).join(''), rows: rejects.length }
  }
}

function written(out: Writable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  out.write(text, error => (error ? reject(error) : resolve()))
  return promise
}
