import type { Pool } from 'pg'
import { isHeldFor, MAY_BE_SENT, ROWS_OF_BATCH, TIMES_MAYBE_SENT } from '#src/imports/sent-elsewhere.ts'
import { IS_UNCERTAIN } from '#src/imports/uncertain.ts'
import { changeRows, type Exclusion, unsentOf } from './exclusion.ts'
import { inPages, readAcrossImports } from './pages.ts'
import { type Pause, uncertainElsewhere } from './pause.ts'

/**
 * In SQL: the unsent rows whose recipients another import of the page may have sent, how often, and whether a person is
 * still to decide about it. A batch that a person had sent again, or that was cancelled before that, may have arrived too,
 * and so may a row that was rejected after an uncertain outcome. Empty unless another import was sent since the last pass.
 */
const maybeSent = (exclusion: Exclusion) => `
  with ${unsentOf(exclusion)}, maybe_sent_batches as materialized (
    select b.*, o.on_uncertain, ${IS_UNCERTAIN} as is_uncertain
    from others o
    cross join lateral (
      select b.* from ferry.import_batches b where b.import_id = o.id and ${MAY_BE_SENT} offset 0) b
  ), elsewhere as materialized (
    select b.import_id, b.on_uncertain, b.is_uncertain, s.recipient_hash, ${TIMES_MAYBE_SENT} as times
    from maybe_sent_batches b
    ${ROWS_OF_BATCH}
    where exists (select from maybe_sent_batches n, mine i where (n.call_id <= i.excluded_to_call) is not true)
    union all
    select o.id, o.on_uncertain, false, j.recipient_hash, b.resends
    from mine i
    cross join others o
    cross join lateral (
      select b.* from ferry.import_batches b
      where b.import_id = o.id and b.resends > 0 and (b.call_id <= i.excluded_to_call) is not true offset 0) b
    cross join lateral (
      select j.* from ferry.import_rejects j
      where j.import_id = o.id and j.line between b.from_line and b.to_line offset 0) j
    where j.batch_id = b.id
  ), maybe_sent as materialized (
    select u.line, u.batch_id, u.maybe_sent, e.import_id, e.times,
      ${isHeldFor('e.is_uncertain', 'e.on_uncertain', 'i.on_uncertain')} as is_held
    from mine i
    cross join elsewhere e
    join unsent u on u.recipient_hash = e.recipient_hash
    where e.times > 0
  )`

/** Returns the pause of an import of which another may have sent some rows, if one of the two is to hold them. */
export async function findHeldElsewhere(pool: Pool, exclusion: Exclusion): Promise<Pause | null> {
  const [held] = await readAcrossImports<{ import_id: string; rows: number }>(
    pool,
    `${maybeSent(exclusion)}
     select import_id, count(distinct line)::int as rows from maybe_sent where is_held
     group by import_id order by import_id limit 1`,
    [exclusion.importId],
  )
  return held ? uncertainElsewhere(BigInt(held.import_id), held.rows) : null
}

type MaybeSent = {
  readonly line: string
  readonly batch_id: string | null
  readonly times: number
  readonly more: number
}

/** Counts as resent the rows that others may have sent, and the batches that are ready with them. Returns false if it was stopped. */
export function markMaybeSent(pool: Pool, exclusion: Exclusion): Promise<boolean> {
  const found = `${maybeSent(exclusion)}
    select line, batch_id, sum(times)::int as times, sum(times)::int - coalesce(max(maybe_sent), 0) as more
    from maybe_sent group by line, batch_id having sum(times) > coalesce(max(maybe_sent), 0) order by line`
  return inPages<MaybeSent>(pool, found, [exclusion.importId], page =>
    changeRows(pool, exclusion, client =>
      client.query(MARK_RESENT, [
        exclusion.importId,
        page.map(row => row.line),
        page.map(row => row.batch_id),
        page.map(row => row.times),
        page.map(row => row.more),
      ]),
    ),
  )
}

const MARK_RESENT = `
  with page as materialized (
    select * from unnest($2::bigint[], $3::bigint[], $4::int[], $5::int[]) as p (line, batch_id, times, more)
  ), marked as (
    update ferry.import_recipients r set maybe_sent = p.times from page p where r.import_id = $1 and r.line = p.line
  )
  update ferry.import_batches b set resends = b.resends + n.more
  from (select batch_id, max(more) as more from page where batch_id is not null group by batch_id) n
  where b.id = n.batch_id`
