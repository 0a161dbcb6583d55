import type { PoolClient } from 'pg'
import { rejectRows } from './reject-rows.ts'

/**
 * Ends what was set aside of a batch that the platform has taken: the lines proven wrong become rejects, each other one a
 * batch of its own. Such a line was refused once, so it is a reject if it is refused alone with the same code. `wasUncertain`:
 * whether the batch was uncertain before the call that the platform took, in which those lines were not.
 */
export async function endSetAside(
  client: PoolClient,
  importId: bigint,
  batchId: bigint,
  wasUncertain: boolean,
): Promise<void> {
  await rejectRows(client, importId, { provenOf: batchId })
  await client.query(
    `select ferry.carve_batch(id, $2) from ferry.import_batches where id = $1 and set_aside <> '{}'`,
    [batchId, wasUncertain],
  )
}
