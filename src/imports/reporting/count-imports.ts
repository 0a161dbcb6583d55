import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { drizzleOf } from '#src/db/drizzle.ts'
import { findAll } from '#src/db/rows.ts'
import { imports } from '#src/imports/schema.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'

/** How many imports of an account have this status, and how many of their rows are in which state. */
const ImportCount = z.object({
  account: z.string(),
  status: z.enum(IMPORT_STATUSES),
  imports: z.number(),
  sent: z.number(),
  rejected: z.number(),
  duplicate: z.number(),
  suppressed: z.number(),
  alreadyImported: z.number(),
  uncertain: z.number(),
  pending: z.number(),
})
export type ImportCount = Readonly<z.infer<typeof ImportCount>>

/** Returns the counts of all imports. A batch whose claim has expired counts as pending until it is reclaimed. */
export function countImports(client: Pool | PoolClient): Promise<ImportCount[]> {
  return findAll(
    client,
    ImportCount,
    `select account, status, count(*)::float8 as imports, sum(sent)::float8 as sent, sum(rejected)::float8 as rejected,
       sum(duplicate)::float8 as duplicate, sum(suppressed)::float8 as suppressed,
       sum(already_imported)::float8 as already_imported, sum(uncertain)::float8 as uncertain,
       sum(recipients - sent - uncertain)::float8 as pending
     from ferry.imports group by account, status order by account, status`,
  )
}

/** Returns the names of all accounts that have imports, whether they are still configured or not. */
export async function listImportedAccounts(pool: Pool): Promise<string[]> {
  const rows = await drizzleOf(pool)
    .selectDistinct({ account: imports.account })
    .from(imports)
    .orderBy(imports.account)
  return rows.map(row => row.account)
}
