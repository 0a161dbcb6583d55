import type { Pool, PoolClient } from 'pg'
import { z } from 'zod'
import { fenceWithLease, type Lease } from '#src/db/leases.ts'
import { findByIndex } from '#src/db/planner.ts'
import { inTransaction } from '#src/db/pool.ts'
import { Int8 } from '#src/db/rows.ts'
import type { Pause } from '#src/imports/move-import.ts'
import { isActiveInSql, isSamePage } from '#src/imports/page.ts'
import {
  haveSameSettings,
  isHeldFor,
  MAY_BE_SENT,
  ROWS_OF_BATCH,
  TIMES_MAYBE_SENT,
} from '#src/imports/sent-elsewhere.ts'
import { IS_UNCERTAIN } from '#src/imports/states.ts'
import { inPages, readAcrossImports } from './pages.ts'
import { uncertainElsewhere } from './pause.ts'

/** One pass over the unsent rows of an import; `start.ts` has its story. */
export type Exclusion = {
  readonly importId: bigint
  /** `excluding_to_call`: another pass, and a decision about what this one looks at, change it. */
  readonly toCall: bigint
  readonly isUpdate: boolean
  /** How many rows the import still has to send, at most. */
  readonly rows: number
  readonly lease: Lease
  readonly signal: AbortSignal
}

/**
 * In SQL: `mine` is the import, `others` are those of the same page, and `unsent` are its rows that are still to be sent,
 * with the batch that is ready with them. Each batch looks up its rows by the index; joined, all rows of an import would
 * meet all its batches. The limit leaves out no row: it tells the planner, who may have no statistics of the import yet,
 * which of the two sides is small.
 */
const unsentOf = ({ rows }: Exclusion) => `
  mine as materialized (
    select * from ferry.imports i where i.id = $1
  ), others as materialized (
    select o.id, o.on_uncertain
    from mine i
    join ferry.imports o on ${isSamePage('i', 'o')} and o.id <> i.id
  ), unsent as materialized (
    select * from (
      select r.*, null::bigint as batch_id
      from mine i
      cross join lateral (
        select r.* from ferry.import_recipients r where r.import_id = i.id and r.line > i.batched_to offset 0) r
      union all
      select r.*, b.id
      from ferry.import_batches b
      cross join lateral (
        select r.* from ferry.import_recipients r
        where r.import_id = b.import_id and r.line between b.from_line and b.to_line offset 0) r
      where b.import_id = $1 and b.state in ('ready', 'suspect')
    ) u limit ${rows}
  )`

/** Changes some rows while the import is locked. Returns false, and changes nothing, if the pass is to stop. */
async function changeRows(
  pool: Pool,
  { importId, toCall, lease, signal }: Exclusion,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<boolean> {
  if (signal.aborted) return false
  return inTransaction(pool, async client => {
    const { rowCount } = await client.query(
      `select from ferry.imports i
       where i.id = $1 and i.excluding_to_call = $2 and ${isActiveInSql('i')} for update`,
      [importId, toCall],
    )
    if (rowCount === 0) return false
    await findByIndex(client)
    await work(client)
    await fenceWithLease(client, lease)
    return true
  })
}

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

/** The numbers stay text: they go back to Postgres. */
const SentByOther = z.object({ line: z.string(), batchId: z.string().nullable(), earlierImport: z.string() })

/** Moves the rows whose recipients others have sent to those left out. Returns false if it was stopped. */
export function leaveOutSent(pool: Pool, exclusion: Exclusion): Promise<boolean> {
  return inPages(pool, SentByOther, sentByOthers(exclusion), [exclusion.importId], page =>
    changeRows(pool, exclusion, client =>
      client.query(EXCLUDE_ROWS, [
        exclusion.importId,
        page.map(row => row.line),
        page.map(row => row.batchId),
        page.map(row => row.earlierImport),
      ]),
    ),
  )
}

/**
 * A batch without any row left becomes `left out`. If all rows left of a batch are set aside, they are sent again, and none of
 * them need have been in a call whose outcome is unknown. The batches that were split into these have their rows in range too.
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
    state = case when n.is_empty then 'left out' else p.state end, uncertain = p.uncertain and cardinality(n.set_aside) < n.rows,
    set_aside = case when cardinality(n.set_aside) < n.rows then n.set_aside else '{}' end,
    reasons = case when p.state = 'suspect' or cardinality(n.set_aside) < n.rows then n.reasons else '{}' end
  from thinner n where p.id = n.id`

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
  const [held] = await readAcrossImports(
    pool,
    Held,
    `${maybeSent(exclusion)}
     select import_id, count(distinct line)::int as rows from maybe_sent where is_held
     group by import_id order by import_id limit 1`,
    [exclusion.importId],
  )
  return held ? uncertainElsewhere(held.importId, held.rows) : null
}

const Held = z.object({ importId: Int8, rows: z.number() })

/** The numbers of lines and batches stay text: they go back to Postgres. */
const MaybeSent = z.object({
  line: z.string(),
  batchId: z.string().nullable(),
  times: z.number(),
  more: z.number(),
})

/** Counts as resent the rows that others may have sent, and the batches that are ready with them. Returns false if it was stopped. */
export function markMaybeSent(pool: Pool, exclusion: Exclusion): Promise<boolean> {
  const found = `${maybeSent(exclusion)}
    select line, batch_id, sum(times)::int as times, sum(times)::int - coalesce(max(maybe_sent), 0) as more
    from maybe_sent group by line, batch_id having sum(times) > coalesce(max(maybe_sent), 0) order by line`
  return inPages(pool, MaybeSent, found, [exclusion.importId], page =>
    changeRows(pool, exclusion, client =>
      client.query(MARK_RESENT, [
        exclusion.importId,
        page.map(row => row.line),
        page.map(row => row.batchId),
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
