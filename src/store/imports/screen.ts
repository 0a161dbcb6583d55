import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '../database.ts'
import { fenceWithLease, type Lease } from '../leases.ts'
import { findByIndex } from './by-index.ts'
import type { Pause } from './outcomes.ts'
import { IS_UNCERTAIN } from './progress.ts'
import { inPages, look } from './screen-pages.ts'

/*
 * What other imports have done to the page meanwhile, found by one that starts or goes on: it leaves out whom they have
 * sent, and calls resent whom they may have.
 *
 *     begin ──► look (no lock) ──► change a page of rows (import locked) ──► ... ──► end
 *
 * It may take long after imports of millions, and whoever pauses, cancels or looks at the import is not to wait for it.
 * Nobody sends to the page meanwhile, for its lease is held and no call of another import was in flight when it began.
 * What a person decides about other imports meanwhile makes `screening_at` null: then all is looked at anew.
 */

export type Screening = {
  readonly importId: bigint
  /** `screening_at` as text: a Date has no microseconds. */
  readonly beganAt: string
  readonly isUpdate: boolean
  /** How many rows it has at most that are to be sent. */
  readonly rows: number
  readonly lease: Lease
  readonly signal: AbortSignal
}

export type Screened = {
  /** False if it was stopped: by the signal, a pause or cancellation, or a decision about another import. */
  readonly isWhole: boolean
  /** Why the import is to be paused instead of being sent. */
  readonly held: Pause | null
}

/** Whether a call of another import of the page may still be under way. */
export async function isAnotherInFlight(client: PoolClient, importId: bigint): Promise<boolean> {
  const { rows } = await client.query<{ found: boolean }>(
    `select exists (
       select from ferry.imports i
       join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
       join ferry.import_batches b on b.import_id = o.id and b.state = 'in flight'
       where i.id = $1) as found`,
    [importId],
  )
  return rows[0]?.found ?? false
}

/**
 * Leaves out whom others have sent, and calls resent whom they may have; or finds why the import is to be paused. With
 * `--update` the uncertain come first: settings that may have arrived decide whether others are the latest.
 */
export async function screen(pool: Pool, screening: Screening): Promise<Screened> {
  if (!screening.isUpdate && !(await leaveOutSent(pool, screening))) return STOPPED
  const held = await findHeldElsewhere(pool, screening)
  if (held) return { isWhole: true, held }
  if (!(await markMaybeSent(pool, screening))) return STOPPED
  if (screening.isUpdate && !(await leaveOutSent(pool, screening))) return STOPPED
  return { isWhole: true, held: null }
}

const STOPPED: Screened = { isWhole: false, held: null }

/**
 * `mine` is the import; `unsent` are its rows that are still to be sent, with the batch that is ready with them. Every
 * look at rows by their lines is one of its own, by the index: joined, all rows of an import would meet all its batches.
 * The limit leaves out nothing: it tells the planner, who may know nothing of the import yet, which of the two is small.
 */
const unsentOf = ({ rows }: Screening) => `
  mine as materialized (
    select * from ferry.imports i where i.id = $1
  ), others as materialized (
    select o.id, o.on_uncertain
    from mine i
    join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
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
      where b.import_id = $1 and b.state in ('ready', 'doubted')
    ) u limit ${rows}
  )`

/**
 * Unsent rows whose recipients other imports have sent to this page since the import was last screened; with `--update`
 * only if the latest of these is the newer import, or sent the same settings and no other may have sent some since.
 */
const sentByOthers = (screening: Screening) => `
  with ${unsentOf(screening)}, latest as (
    select distinct on (u.line) u.line, u.batch_id, s.import_id as earlier_import,
      not i.update_existing or s.import_id > i.id or (u.maybe_sent is null and
        u.locale = s.locale and u."all" = s."all" and (u."all" or (
          u.component_ids @> s.component_ids and u.component_ids <@ s.component_ids))) as is_left_out
    from mine i
    cross join unsent u
    join (
      select b.sent_at, s.*
      from mine i
      cross join others o
      cross join lateral (
        select b.* from ferry.import_batches b
        where b.import_id = o.id and b.state = 'sent' and b.sent_at > coalesce(i.screened_at, '-infinity') offset 0) b
      cross join lateral (
        select s.* from ferry.import_recipients s
        where s.import_id = b.import_id and s.line between b.from_line and b.to_line offset 0) s
    ) s on s.recipient_hash = u.recipient_hash
    order by u.line, s.sent_at desc, s.import_id desc
  )
  select line, batch_id, earlier_import from latest where is_left_out order by line`

type SentByOther = {
  readonly line: string
  readonly batch_id: string | null
  readonly earlier_import: string
}

/** Moves rows whose recipients others have sent to those left out; false if it was stopped. */
function leaveOutSent(pool: Pool, screening: Screening): Promise<boolean> {
  return inPages<SentByOther>(pool, sentByOthers(screening), [screening.importId], page =>
    change(pool, screening, client =>
      client.query(LEAVE_OUT, [
        screening.importId,
        page.map(row => row.line),
        page.map(row => row.batch_id),
        page.map(row => row.earlier_import),
      ]),
    ),
  )
}

/**
 * A batch of which no row is left is `left out`; a row that is left alone with what was held against it is asked again.
 * The batches that were split into these have the rows of them in their range too.
 */
const LEAVE_OUT = `
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

/**
 * The rows to be sent whose recipients another import of the page may have sent, how often, and whether that is still
 * to be decided. A batch that a person had sent again, or that was cancelled before it was, may have arrived too, and so may
 * a row that was rejected after an outcome that stayed uncertain. Empty
 * unless another import has been sent to this page since the last time.
 */
const maybeSent = (screening: Screening) => `
  with ${unsentOf(screening)}, unsure as materialized (
    select b.*, o.on_uncertain, ${IS_UNCERTAIN} as undecided
    from others o
    cross join lateral (
      select b.* from ferry.import_batches b
      where b.import_id = o.id and b.state not in ('sent', 'split')
        and b.state not in ('rejected', 'left out') and (b.uncertain or b.state = 'uncertain' or b.resends > 0)
      offset 0) b
  ), elsewhere as materialized (
    select u.import_id, u.on_uncertain, u.undecided, s.recipient_hash,
      greatest(u.resends + (u.state = 'uncertain')::int - coalesce(s.maybe_sent, 0), u.undecided::int) as times
    from unsure u
    cross join lateral (
      select s.* from ferry.import_recipients s
      where s.import_id = u.import_id and s.line between u.from_line and u.to_line offset 0) s
    where exists (select from unsure n, mine i where (n.claimed_at <= i.screened_at) is not true)
    union all
    select o.id, o.on_uncertain, false, j.recipient_hash, b.resends
    from mine i
    cross join others o
    cross join lateral (
      select b.* from ferry.import_batches b
      where b.import_id = o.id and b.resends > 0 and (b.claimed_at <= i.screened_at) is not true offset 0) b
    cross join lateral (
      select j.* from ferry.import_rejects j
      where j.import_id = o.id and j.line between b.from_line and b.to_line offset 0) j
    where j.batch_id = b.id
  ), maybe_sent as materialized (
    select u.line, u.batch_id, u.maybe_sent, e.import_id, e.times,
      e.undecided and 'hold' in (e.on_uncertain, i.on_uncertain) as is_held
    from mine i
    cross join elsewhere e
    join unsent u on u.recipient_hash = e.recipient_hash
    where e.times > 0
  )`

/** Returns why an import is not to go on: another may have sent some of its rows, and one of the two is to hold them. */
async function findHeldElsewhere(pool: Pool, screening: Screening): Promise<Pause | null> {
  const [held] = await look<{ import_id: string; rows: number }>(
    pool,
    `${maybeSent(screening)}
     select import_id, count(distinct line)::int as rows from maybe_sent where is_held
     group by import_id order by import_id limit 1`,
    [screening.importId],
  )
  return held ? uncertainElsewhere(held.import_id, held.rows) : null
}

function uncertainElsewhere(other: string, rows: number): Pause {
  const resolve = `ferry imports resolve ${other} --as sent`
  return {
    code: 'UncertainElsewhere',
    requestId: null,
    message: `${rows} ${rows === 1 ? 'row' : 'rows'} may have been sent by import ${other}, whose outcome nobody knows yet.`,
    whatToDo: `Find out whether they arrived, say so with \`${resolve}\` (or \`--as resend\`), then resume.`,
  }
}

type MaybeSent = {
  readonly line: string
  readonly batch_id: string | null
  readonly times: number
  readonly more: number
}

/** Calls resent what others may have sent: the rows, and the batches that are ready with them; false if it was stopped. */
function markMaybeSent(pool: Pool, screening: Screening): Promise<boolean> {
  const found = `${maybeSent(screening)}
    select line, batch_id, sum(times)::int as times, sum(times)::int - coalesce(max(maybe_sent), 0) as more
    from maybe_sent group by line, batch_id having sum(times) > coalesce(max(maybe_sent), 0) order by line`
  return inPages<MaybeSent>(pool, found, [screening.importId], page =>
    change(pool, screening, client =>
      client.query(CALL_RESENT, [
        screening.importId,
        page.map(row => row.line),
        page.map(row => row.batch_id),
        page.map(row => row.times),
        page.map(row => row.more),
      ]),
    ),
  )
}

const CALL_RESENT = `
  with page as materialized (
    select * from unnest($2::bigint[], $3::bigint[], $4::int[], $5::int[]) as p (line, batch_id, times, more)
  ), marked as (
    update ferry.import_recipients r set maybe_sent = p.times from page p where r.import_id = $1 and r.line = p.line
  )
  update ferry.import_batches b set resends = b.resends + n.more
  from (select batch_id, max(more) as more from page where batch_id is not null group by batch_id) n
  where b.id = n.batch_id`

/** Changes some rows while the import is locked; false, and nothing is changed, if the screening is to stop. */
async function change(
  pool: Pool,
  { importId, beganAt, lease, signal }: Screening,
  work: (client: PoolClient) => Promise<unknown>,
): Promise<boolean> {
  if (signal.aborted) return false
  return inTransaction(pool, async client => {
    const { rowCount } = await client.query(
      `select from ferry.imports
       where id = $1 and screening_at = $2 and status in ('queued', 'running') for update`,
      [importId, beganAt],
    )
    if (rowCount === 0) return false
    await findByIndex(client)
    await work(client)
    await fenceWithLease(client, lease)
    return true
  })
}
