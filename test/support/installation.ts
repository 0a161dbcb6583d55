import type { Pool } from 'pg'
import { loadInstallation } from '#src/db/installation.ts'

/** As if Ferry had been installed a month ago: what was due since then was missed. */
export async function ageInstallation(pool: Pool): Promise<void> {
  await loadInstallation(pool)
  await pool.query(`update ferry.installation set created_at = created_at - interval '30 days'`)
}
