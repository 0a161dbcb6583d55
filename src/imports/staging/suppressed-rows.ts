import type { PoolClient } from 'pg'
import { countOf } from '#src/db/rows.ts'
import type { Staging } from './begin-staging.ts'

/** Creates the table of the hashes of suppressed recipients, for this transaction. Returns the target of COPY into it. */
export async function createSuppressions(client: PoolClient): Promise<string> {
  await client.query(
    'create temporary table import_suppressions (recipient_hash uuid not null) on commit drop',
  )
  return 'pg_temp.import_suppressions (recipient_hash) from stdin'
}

/** Moves the rows of suppressed recipients to those left out. Returns how many. */
export async function leaveOutSuppressed(client: PoolClient, { id, tables }: Staging): Promise<number> {
  const moved = await client.query(
    `with gone as (
       delete from ${tables.recipients} r
       where r.import_id = $1
         and exists (select from pg_temp.import_suppressions s where s.recipient_hash = r.recipient_hash)
       returning r.line, r.recipient_hash, r.recipient
     )
     insert into ${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient)
     select $1, line, 'suppressed', 'suppression list', recipient_hash, recipient from gone`,
    [id],
  )
  return countOf(moved)
}
