import type { Pool, PoolClient } from 'pg'

/** Returns the bytes that each table of Ferry takes on the disk, with its indexes. */
export async function loadTableSizes(
  client: Pool | PoolClient,
): Promise<{ readonly table: string; readonly bytes: number }[]> {
  const { rows } = await client.query<{ table: string; bytes: number }>(
    `select c.relname as table, pg_total_relation_size(c.oid)::float8 as bytes from pg_class c
     where c.relnamespace = 'ferry'::regnamespace and c.relkind = 'r' order by c.relname`,
  )
  return rows
}
