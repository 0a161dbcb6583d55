import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'

/** How far an import is that runs, and whether its calls fail. */
const RunningImport = z.object({
  id: z.string(),
  sent: z.number(),
  toBeSent: z.number(),
  /** Calls in a row, up to the last one, that failed for other reasons than their content. */
  failures: z.number(),
})
export type RunningImport = Readonly<z.infer<typeof RunningImport>>

/** Returns imports that run, first those whose last call failed, then the oldest; at most `limit`. */
export async function listRunningImports(client: Pool | PoolClient, limit: number): Promise<RunningImport[]> {
  const { rows } = await client.query(
    `select id, sent, recipients as "toBeSent", failures from ferry.imports
     where finished_at is null and status = 'running' order by failures = 0, id limit $1`,
    [limit],
  )
  return RunningImport.array().parse(rows)
}
