import type { Pool } from 'pg'
import { drizzleOf } from '#src/db/drizzle.ts'
import { imports } from '#src/imports/schema.ts'

/** Returns the names of all accounts that have imports, whether they are still configured or not. */
export async function listImportedAccounts(pool: Pool): Promise<string[]> {
  const rows = await drizzleOf(pool)
    .selectDistinct({ account: imports.account })
    .from(imports)
    .orderBy(imports.account)
  return rows.map(row => row.account)
}
