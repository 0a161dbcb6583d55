import type { PoolClient } from 'pg'
import { z } from 'zod'
import { findMaybe } from '#src/db/rows.ts'
import type { RunStep } from '#src/inventory/runs/ledger.ts'
import { changeInWords, DATABASE_CAUSES } from '#src/model/database-change.ts'

const Change = z.object({ cause: z.enum(DATABASE_CAUSES), missingSince: z.date().nullable() })

/**
 * Says that a run is the first one since the database turned out to be another than the known one: what it records as new
 * or changed may have been observed before. Null for any other run.
 */
export async function noteDatabaseChange(client: PoolClient, run: RunStep): Promise<string | null> {
  const change = await findMaybe(
    client,
    Change,
    `select c.cause, c.missing_since from ferry.database_changes c
     where c.noticed_at > (
       select r.finished_at from ferry.sync_runs r
       where r.account = $1 and r.resource = $2 and r.id < $3 and r.applied_at is not null order by r.id desc limit 1)
     order by c.id desc limit 1`,
    [run.account, run.resource, run.runId],
  )
  return change && `${changeInWords(change)} What this run records may have been observed before.`
}
