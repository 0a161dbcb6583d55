import type { PoolClient } from 'pg'

/**
 * Removes every recipient of an import: the addresses and the lines of the file. Nothing else holds any: numbers, times,
 * request_ids, hashes and the words of the platform stay. Returns of how many rows something was removed.
 */
export async function purgeRows(client: PoolClient, id: bigint): Promise<number> {
  const recipients = await client.query(
    `update ferry.import_recipients set recipient = null, raw = null
     where import_id = $1 and (recipient is not null or raw is not null)`,
    [id],
  )
  const rejects = await client.query(
    'update ferry.import_rejects set raw = null where import_id = $1 and raw is not null',
    [id],
  )
  const leftOut = await client.query(
    'update ferry.import_left_out set recipient = null where import_id = $1 and recipient is not null',
    [id],
  )
  await client.query('update ferry.imports set purged_at = clock_timestamp() where id = $1', [id])
  return [recipients, rejects, leftOut].reduce((sum, { rowCount }) => sum + (rowCount ?? 0), 0)
}
