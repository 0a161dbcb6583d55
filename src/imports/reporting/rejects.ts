import type { Writable } from 'node:stream'
import type { Pool } from 'pg'
import { z } from 'zod'
import { and, drizzleOf, eq, gt } from '#src/db/drizzle.ts'
import { importRejects, imports } from '#src/imports/schema.ts'
import { csvOfRejects, ndjsonOfRejects, type Reject, type RejectLines } from './reject-lines.ts'

/*
 * The rejects of an import as a file that can be corrected and imported again. It has the columns of the file they come
 * from, and after them `line`, `reason`, `message` and `request_id`. For NDJSON it is NDJSON.
 *
 * A cell that a spreadsheet would run as a formula is escaped, and is unescaped when the file is imported (see
 * `imports/reject-cells.ts`). A line that could not be split into cells is the first cell, or the key `raw`.
 */

/** A part of that file, and how many rejects are in it. */
export type RejectsPart = { readonly text: string; readonly rows: number }

/** Writes the rejects of an import to a stream. Returns how many. Throws what the stream fails with. */
export async function writeRejects(pool: Pool, id: bigint, out: Writable): Promise<number> {
  let rows = 0
  const { promise: broken, reject } = Promise.withResolvers<never>()
  broken.catch(() => {}) // raced with every write
  out.on('error', reject)
  try {
    for await (const part of rejectsFile(pool, id)) {
      await Promise.race([broken, written(out, part.text)])
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

/** What staging has noted of the file. Imports made by other means may lack it. */
const Options = z.object({ file: z.object({ delimiter: z.string().nullish() }).optional() })

async function loadFileLines(pool: Pool, id: bigint): Promise<RejectLines | null> {
  const [row] = await drizzleOf(pool)
    .select({ columns: imports.columns, options: imports.options })
    .from(imports)
    .where(eq(imports.id, id))
  if (!row) return null
  const { file } = Options.parse(row.options)
  return row.columns === null ? ndjsonOfRejects() : csvOfRejects(row.columns, file?.delimiter ?? ',')
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
