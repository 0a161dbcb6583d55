import { randomBytes } from 'node:crypto'
import { open, rename, rm, stat } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import type { Pool } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, gt } from '#src/db/drizzle.ts'
import { importRejects, imports } from '#src/imports/schema.ts'
import { reasonOf } from '#src/model/reason.ts'
import { csvOfRejects, ndjsonOfRejects, type Reject, type RejectLines } from './reject-lines.ts'

/*
 * The rejects of an import as a file that can be corrected and imported again. It has the columns of the file they come
 * from, and after them `line`, `reason`, `message` and `request_id`; if the file has one of these names, `ferry_line` and so on. For
 * NDJSON it is NDJSON.
 *
 * A cell that a spreadsheet would run as a formula is escaped, and is unescaped when the file is imported (see
 * `model/csv-cells.ts`). A line that could not be split into cells is the first cell, or the key `raw`.
 */

/** A part of that file, and how many rejects are in it. */
export type RejectsPart = { readonly text: string; readonly rows: number }

/** Writes the rejects of an import to a stream, each part as `asShown`. Returns how many. Throws what the stream fails with. */
export async function writeRejects(
  pool: Pool,
  id: bigint,
  out: Writable,
  asShown: (text: string) => string = text => text,
): Promise<number> {
  let rows = 0
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => {}) // raced with every write
  out.on('error', reject)
  try {
    for await (const part of rejectsFile(pool, id)) {
      await Promise.race([broken, written(out, asShown(part.text))])
      rows += part.rows
    }
    return rows
  } finally {
    out.off('error', reject)
  }
}

function written(out: Writable, text: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  out.write(text, error => (error ? reject(error) : resolve()))
  return promise
}

/** Yields the file of rejects in parts; nothing for an import that does not exist. */
export async function* rejectsFile(pool: Pool, id: bigint): AsyncGenerator<RejectsPart> {
  const file = await loadFileLines(pool, id)
  if (!file) return
  yield { text: file.header, rows: 0 }
  for await (const rejects of listRejects(pool, id)) {
    yield { text: rejects.map(file.lineOf).join(''), rows: rejects.length }
  }
}

/** Staging notes the form of the file. Imports made by other means may lack it. */
const Options = z.object({
  map: z.record(z.string(), z.string()).optional(),
  file: z.object({ delimiter: z.string().nullish() }).optional(),
})

async function loadFileLines(pool: Pool, id: bigint): Promise<RejectLines | null> {
  const [row] = await drizzleOf(pool)
    .select({ columns: imports.columns, options: imports.options })
    .from(imports)
    .where(eq(imports.id, id))
  if (!row) return null
  const { file, map = {} } = Options.parse(row.options)
  const read = Object.values(map)
  return row.columns === null
    ? ndjsonOfRejects(read)
    : csvOfRejects(row.columns, file?.delimiter ?? ',', read)
}

const PAGE = 5000

/** Yields the rejects of an import by line, page by page. */
async function* listRejects(pool: Pool, id: bigint): AsyncGenerator<readonly Reject[]> {
  const { import_id, line, reason, message, request_id, raw } = importRejects
  for (let after = 0n; ; ) {
    const rows = await drizzleOf(pool)
      .select({ line, reason, message, request_id, raw })
      .from(importRejects)
      .where(and(eq(import_id, id), gt(line, after)))
      .orderBy(line)
      .limit(PAGE)
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    after = last.line
  }
}

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
