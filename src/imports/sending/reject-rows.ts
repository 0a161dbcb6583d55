import type { PoolClient } from 'pg'
import { findByIndex } from '#src/db/planner.ts'
import { REJECTED_BY_PLATFORM } from './pause.ts'

/** Moves rows of a batch to the rejects: those set aside, or all. */
export async function rejectRows(
  client: PoolClient,
  importId: bigint,
  which: { readonly setAsideOf: bigint } | { readonly allOf: bigint },
): Promise<void> {
  const onlySetAside = 'setAsideOf' in which
  const chosen = onlySetAside ? which.setAsideOf : which.allOf
  await findByIndex(client)
  await client.query(
    `with recursive b as (
       select * from ferry.import_batches where id = $2
     ), gone as (
       delete from ferry.import_recipients r using b
       where r.import_id = $1 and r.line between b.from_line and b.to_line
         and (not $3 or r.line = any (b.set_aside))
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
       select batch_id as id, count(*) as rows from gone group by batch_id
     ), around as (
       select f.id as leaf, f.id, f.rows from fewer f
       union all
       select a.leaf, p.parent_id, a.rows from around a join ferry.import_batches p on p.id = a.id
       where p.parent_id is not null
     )
     -- The batches that were split into these have the rows of them in their range too.
     update ferry.import_batches p set rows = p.rows - n.rows,
       set_aside = case when p.id = n.leaf then '{}' else p.set_aside end,
       reasons = case when p.id = n.leaf then '{}' else p.reasons end
     from (
       select a.id, max(a.leaf) filter (where a.leaf = a.id) as leaf, sum(a.rows) as rows from around a group by a.id
     ) n
     where p.id = n.id`,
    [importId, chosen, onlySetAside, REJECTED_BY_PLATFORM],
  )
}
