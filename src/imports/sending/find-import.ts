import type { Pool } from 'pg'
import { drizzleOf, eq, sql } from '#src/db/drizzle.ts'
import { type ImportPage, isBehindInSql } from '#src/imports/page.ts'
import { imports } from '#src/imports/schema.ts'
import type { ImportStatus } from '#src/model/import.ts'

/** What a worker needs to know before it works on an import. */
export type ImportHead = ImportPage & {
  readonly status: ImportStatus
  /** Whether an older import of the same page is sent first. */
  readonly isBehind: boolean
}

/** Returns null if there is no import of that id. */
export async function findImport(pool: Pool, importId: bigint): Promise<ImportHead | null> {
  const { account, page_id: pageId, method, status } = imports
  const isBehind = sql<boolean>`${sql.raw(isBehindInSql('imports'))}`
  const [head] = await drizzleOf(pool)
    .select({ account, pageId, method, status, isBehind })
    .from(imports)
    .where(eq(imports.id, importId))
  return head ?? null
}
