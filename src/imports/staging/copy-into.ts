import type { PoolClient } from 'pg'
import { from as copyFrom } from 'pg-copy-streams'

/** Copies `data` into `target` (a table, its columns, and the format of `data`). Resolves with the number of rows. */
export function copyInto(client: PoolClient, target: string, data: Buffer): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  const copy = client.query(copyFrom(`copy ${target}`))
  copy.on('finish', () => resolve(copy.rowCount))
  copy.on('error', reject)
  copy.end(data)
  return promise
}
