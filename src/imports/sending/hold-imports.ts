import type { PoolClient } from 'pg'
import { findColumn, Int8 } from '#src/db/rows.ts'
import type { DatabaseChange } from '#src/model/database-change.ts'
import { IMPORT_STATUSES } from '#src/model/import.ts'
import { moveOf } from '#src/model/import-moves.ts'
import { stopImport } from './import-state.ts'
import { databaseChanged } from './pause.ts'

/**
 * Pauses each import that would be sent in a database that is not the one that Ferry knew: what was sent may be missing. A paused
 * one gets this reason too, for the person who resumes it. Returns how many there are.
 */
export async function holdImports(client: PoolClient, change: DatabaseChange): Promise<number> {
  const stoppable = IMPORT_STATUSES.filter(status => 'to' in moveOf('stop', { status }))
  const ids = await findColumn(
    client,
    Int8,
    'select id from ferry.imports where finished_at is null and status = any ($1) order by id for update',
    [stoppable],
  )
  for (const id of ids) await stopImport(client, id, databaseChanged(change))
  return ids.length
}
