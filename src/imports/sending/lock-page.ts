import type { PoolClient } from 'pg'
import { isSamePage } from '#src/imports/page.ts'

/**
 * Locks all imports of an import's page, so that what was sent there does not change, and makes the others look again at
 * what was sent. They are locked in the order of their ids: two that do this at once do not wait for each other.
 */
export async function lockPage(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `select from ferry.imports o join ferry.imports i on ${isSamePage('i', 'o')}
     where i.id = $1 order by o.id for update of o`,
    [id],
  )
  await client.query(
    `update ferry.imports o set excluded_to_call = null, excluding_to_call = null from ferry.imports i
     where i.id = $1 and ${isSamePage('i', 'o')} and o.id <> i.id
       and o.finished_at is null and coalesce(o.excluded_to_call, o.excluding_to_call) is not null`,
    [id],
  )
}
