import type { PoolClient } from 'pg'
import { findByIndex } from '#src/db/planner.ts'
import { PROVES_FAULT } from './decide.ts'
import { REJECTED_BY_PLATFORM } from './pause.ts'

/** SQL that says whether a line set aside is a reject once the rest of its batch is accepted; both arguments are SQL. */
export function isProven(reasons: string, line: string): string {
  return `(${reasons} -> ${line}::text ->> 'code' = '${PROVES_FAULT}') is true`
}

/** Moves rows of a batch to the rejects: those set aside that are proven wrong, or all. */
export async function rejectRows(
  client: PoolClient,
  importId: bigint,
  which: { readonly provenOf: bigint } | { readonly allOf: bigint },
): Promise<void> {
  const onlyProven = 'provenOf' in which
  const chosen = onlyProven ? which.provenOf : which.allOf
  await findByIndex(client)
  await client.query(
    `with recursive b as (
       select * from ferry.import_batches where id = $2
     ), gone as (
       delete from ferry.import_recipients r using b
       where r.import_id = $1 and r.line between b.from_line and b.to_line
         and (not $3 or r.line = any (b.set_aside) and ${isProven('b.reasons', 'r.line')})
       returning r.*, b.id as batch_id, b.reasons -> r.line::text as why
     ), kept as (
       insert into ferry.import_rejects
         (import_id, line, origin, reason, message, recipient_hash, batch_id, error_code, request_id, raw)
       select import_id, line, 'platform', $4::text, why ->> 'message', recipient_hash, batch_id,
         why ->> 'code', why ->> 'requestId', raw
       from gone
     ), less as (
       update ferry.imports set recipients = recipients - g.rows, rejected = rejected + g.rows,
         rejected_by_platform = rejected_by_platform + g.rows
       from (select count(*) as rows from gone) g where id = $1
     ), fewer as (
       select batch_id as id, count(*) as rows, array_agg(line) as lines from gone group by batch_id
     ), around as (
       select f.id, f.rows, f.lines from fewer f
       union all
       select p.parent_id, a.rows, null::bigint[] from around a join ferry.import_batches p on p.id = a.id
       where p.parent_id is not null
     )
     -- The batches that were split into these have the rows of them in their range too.
     update ferry.import_batches p set rows = p.rows - a.rows,
       set_aside = array(select line from unnest(p.set_aside) line where (line = any (a.lines)) is not true),
       reasons = p.reasons - coalesce(a.lines, '{}')::text[]
     from around a
     where p.id = a.id`,
    [importId, chosen, onlyProven, REJECTED_BY_PLATFORM],
  )
}

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
    `select ferry_internal.carve_batch(id, $2) from ferry.import_batches where id = $1 and set_aside <> '{}'`,
    [batchId, wasUncertain],
  )
}
