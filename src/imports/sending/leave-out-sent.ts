import type { Pool } from 'pg'
import { haveSameSettings, ROWS_OF_BATCH } from '#src/imports/sent-elsewhere.ts'
import { changeRows, type Exclusion, unsentOf } from './exclusion.ts'
import { inPages } from './pages.ts'

/**
 * In SQL: the unsent rows whose recipients other imports have sent to this page since the last pass. With `--update` only if
 * the latest of these is the newer import, or sent the same settings and no other may have sent some since.
 */
const sentByOthers = (exclusion: Exclusion) => `
  with ${unsentOf(exclusion)}, latest as (
    select distinct on (u.line) u.line, u.batch_id, s.import_id as earlier_import,
      not i.update_existing or s.import_id > i.id or (u.maybe_sent is null and
        ${haveSameSettings('u', 's')}) as is_left_out
    from mine i
    cross join unsent u
    join (
      select b.call_id, s.*
      from mine i
      cross join others o
      cross join lateral (
        select b.* from ferry.import_batches b
        where b.import_id = o.id and b.state = 'sent' and (b.call_id <= i.excluded_to_call) is not true offset 0) b
      ${ROWS_OF_BATCH}
    ) s on s.recipient_hash = u.recipient_hash
    order by u.line, s.call_id desc, s.import_id desc
  )
  select line, batch_id, earlier_import from latest where is_left_out order by line`

type SentByOther = {
  readonly line: string
  readonly batch_id: string | null
  readonly earlier_import: string
}

/** Moves the rows whose recipients others have sent to those left out. Returns false if it was stopped. */
export function leaveOutSent(pool: Pool, exclusion: Exclusion): Promise<boolean> {
  return inPages<SentByOther>(pool, sentByOthers(exclusion), [exclusion.importId], page =>
    changeRows(pool, exclusion, client =>
      client.query(EXCLUDE_ROWS, [
        exclusion.importId,
        page.map(row => row.line),
        page.map(row => row.batch_id),
        page.map(row => row.earlier_import),
      ]),
    ),
  )
}

/**
 * A batch without any row left becomes `left out`. If all rows left of a batch are set aside, they are sent again. The
 * batches that were split into these have their rows in range too.
 */
const EXCLUDE_ROWS = `
  with recursive page as materialized (
    select * from unnest($2::bigint[], $3::bigint[], $4::bigint[]) as p (line, batch_id, earlier_import)
  ), gone as (
    delete from ferry.import_recipients r using page p where r.import_id = $1 and r.line = p.line
    returning r.import_id, r.line, r.recipient_hash, r.recipient, p.batch_id, p.earlier_import
  ), kept as (
    insert into ferry.import_left_out (import_id, line, kind, reason, recipient_hash, earlier_import, recipient)
    select import_id, line, 'already imported', 'already imported', recipient_hash, earlier_import, recipient
    from gone
  ), less as (
    update ferry.imports set recipients = recipients - g.rows, already_imported = already_imported + g.rows
    from (select count(*) as rows from gone) g where id = $1
  ), fewer as (
    select batch_id as id, count(*) as rows, array_agg(line) as lines from gone
    where batch_id is not null group by batch_id
  ), around as (
    select id, rows, lines from fewer
    union all
    select p.parent_id, a.rows, '{}' from around a join ferry.import_batches p on p.id = a.id
    where p.parent_id is not null
  ), thinned as (
    select id, sum(rows) as rows, max(lines) as lines from around group by id
  ), thinner as (
    select p.id, p.rows - t.rows as rows, p.state <> 'split' and p.rows = t.rows as is_empty,
      array(select line from unnest(p.set_aside) line where line <> all (t.lines)) as set_aside,
      p.reasons - t.lines::text[] as reasons
    from thinned t join ferry.import_batches p on p.id = t.id
  )
  update ferry.import_batches p set rows = n.rows,
    state = case when n.is_empty then 'left out' else p.state end, uncertain = p.uncertain and not n.is_empty,
    set_aside = case when cardinality(n.set_aside) < n.rows then n.set_aside else '{}' end,
    reasons = case when p.state = 'doubted' or cardinality(n.set_aside) < n.rows then n.reasons else '{}' end
  from thinner n where p.id = n.id`
