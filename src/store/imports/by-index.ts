import type { PoolClient } from 'pg'

/**
 * Has the statements of a transaction find single rows by their keys, whatever the statistics say: they may know nothing
 * of an import yet, and a plan that reads all rows of a table for some of them would be chosen.
 */
export async function findByIndex(client: PoolClient): Promise<void> {
  await client.query(
    'set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
  )
}
