import type { Pool } from 'pg'
import { loadRun, type RunDetails } from '#src/inventory/list-runs.ts'
import { UsageError } from '../errors.ts'

/** Everything known of one run. Throws `UsageError` if there is no run with this id. */
export async function findRun(pool: Pool, id: bigint): Promise<RunDetails> {
  const found = await loadRun(pool, id)
  if (!found) throw new UsageError(`there is no run ${id}; \`ferry runs list\` shows them`)
  return found
}
