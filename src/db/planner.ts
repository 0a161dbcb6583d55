import type { PoolClient } from 'pg'

/**
 * Makes the statements of an open transaction look up rows by index. Use it for statements that touch few rows of a large
 * table whose statistics may be missing or old: Postgres could otherwise choose to read the whole table.
 */
export async function findByIndex(client: PoolClient): Promise<void> {
  await client.query(
    'set local enable_seqscan = off; set local enable_hashjoin = off; set local enable_mergejoin = off',
  )
}
