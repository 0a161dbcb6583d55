import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'

/** Something that a worker does at this moment, see the view `ferry.work_under_way`. */
const Work = z.object({
  holder: z.string(),
  kind: z.enum(['run', 'import', 'schedule']),
  account: z.string(),
  /** The inventory, the page, or the name of the schedule. */
  name: z.string(),
  /** The number of the run or import; null for a schedule. */
  number: z.coerce.bigint().nullable(),
  since: z.date(),
})
export type Work = Readonly<z.infer<typeof Work>>

/** What workers do at this moment, what was begun first at first; at most `limit`. */
export async function listWorkUnderWay(client: Pool | PoolClient, limit: number): Promise<Work[]> {
  const { rows } = await client.query(
    'select holder, kind, account, name, number, since from ferry.work_under_way order by since limit $1',
    [limit],
  )
  return Work.array().parse(rows)
}
