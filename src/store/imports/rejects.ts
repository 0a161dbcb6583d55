import type { Pool } from 'pg'

export type FileShape = {
  readonly columns: readonly string[] | null
  /** As staging wrote it; imports may have been made otherwise. */
  readonly options: { readonly file?: { readonly format?: string; readonly delimiter?: string | null } }
}

export type RejectRow = {
  readonly line: string
  readonly reason: string
  readonly message: string
  readonly request_id: string | null
  /** Null once purged. */
  readonly raw: string | null
}

const PAGE = 5000

/** How the file of an import was written; null for an import that does not exist. */
export async function loadFileShape(pool: Pool, id: bigint): Promise<FileShape | null> {
  const { rows } = await pool.query<FileShape>('select columns, options from ferry.imports where id = $1', [
    id,
  ])
  return rows[0] ?? null
}

/** Yields the rejects of an import by line, some thousand at a time. */
export async function* listRejects(pool: Pool, id: bigint): AsyncGenerator<readonly RejectRow[]> {
  let after = '0'
  for (;;) {
    const { rows } = await pool.query<RejectRow>(
      `select line, reason, message, request_id, raw from ferry.import_rejects
       where import_id = $1 and line > $2 order by line limit $3`,
      [id, after, PAGE],
    )
    if (rows.length > 0) yield rows
    const last = rows.at(-1)
    if (!last || rows.length < PAGE) return
    after = last.line
  }
}
