import type { PoolClient } from 'pg'
import type { Pause } from './outcomes.ts'
import { IS_UNCERTAIN } from './progress.ts'

/*
 * What other imports have done to the page meanwhile, seen by one that starts or goes on. Under its lease, with its row
 * locked, and with no call of another import in flight: so nobody adds to what is found here before the lease is given up.
 */

/** Rows that are still to be sent: `r` of the import `i`. */
const IS_UNSENT = `(r.line > i.batched_to or exists (
  select from ferry.import_batches b
  where b.import_id = r.import_id and b.state in ('ready', 'doubted') and r.line between b.from_line and b.to_line))`

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
 * Moves rows not sent yet, whose recipients other imports have sent to this page, to those left out; with `--update`
 * only if the latest of these is the newer import, or sent the same settings and no other may have sent some since. Only
 * if any has sent since the last time.
 * A batch of which no row is left is `left out`; a row that is left alone with what was held against it is asked again.
 */
export async function leaveOutSent(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `with mine as materialized (
       select * from ferry.imports i where i.id = $1
     ), others as materialized (
       select b.import_id, b.from_line, b.to_line, b.sent_at
       from mine i
       join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
       join ferry.import_batches b on b.import_id = o.id and b.state = 'sent'
       where i.screened_at is null or exists (
         select from ferry.imports a join ferry.import_batches n on n.import_id = a.id
         where a.account = i.account and a.page_id = i.page_id and a.method = i.method and a.id <> i.id
           and n.sent_at > i.screened_at)
     ), latest as (
       select distinct on (s.recipient_hash) s.recipient_hash, s.import_id, s."all", s.component_ids, s.locale
       from others b
       join ferry.import_recipients s on s.import_id = b.import_id and s.line between b.from_line and b.to_line
       order by s.recipient_hash, b.sent_at desc, s.import_id desc
     ), gone as (
       delete from ferry.import_recipients r using latest l, mine i
       where r.import_id = i.id and r.recipient_hash = l.recipient_hash and ${IS_UNSENT}
         and (not i.update_existing or l.import_id > i.id or (r.maybe_sent is null and
           r.locale = l.locale and r."all" = l."all" and (r."all" or (
             r.component_ids @> l.component_ids and r.component_ids <@ l.component_ids))))
       returning r.import_id, r.line, r.recipient_hash, r.recipient, l.import_id as earlier_import
     ), kept as (
       insert into ferry.import_left_out (import_id, line, kind, reason, recipient_hash, earlier_import, recipient)
       select import_id, line, 'already imported', 'already imported', recipient_hash, earlier_import, recipient
       from gone
     ), less as (
       update ferry.imports set recipients = recipients - g.rows, already_imported = already_imported + g.rows
       from (select count(*) as rows from gone) g where id = $1 and g.rows > 0
     ), batched as materialized (
       select g.import_id, g.line from gone g join mine i on g.line <= i.batched_to
     ), thinned as (
       select p.id, count(*) as rows, array_agg(g.line) as lines
       from batched g
       join ferry.import_batches p on p.import_id = g.import_id and p.state in ('ready', 'doubted', 'split')
         and g.line between p.from_line and p.to_line
       group by p.id
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
     from thinner n where p.id = n.id`,
    [importId],
  )
}

/**
 * The rows to be sent whose recipients another import of the page may have sent, how often, and whether that is still
 * to be decided. A batch that a person had sent again, or that was cancelled before it was, may have arrived too, and so may
 * a row that was rejected after an outcome that stayed uncertain. Empty
 * unless another import has been sent to this page since the last time.
 */
const MAYBE_SENT = `
  with mine as materialized (
    select * from ferry.imports i where i.id = $1
  ), unsure as materialized (
    select b.*, o.on_uncertain, ${IS_UNCERTAIN} as undecided
    from mine i
    join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
    join ferry.import_batches b on b.import_id = o.id and b.state not in ('sent', 'rejected', 'split', 'left out')
      and (b.uncertain or b.state = 'uncertain' or b.resends > 0)
  ), elsewhere as materialized (
    select u.import_id, u.on_uncertain, u.undecided, s.recipient_hash,
      greatest(u.resends + (u.state = 'uncertain')::int - coalesce(s.maybe_sent, 0), u.undecided::int) as times
    from unsure u
    join ferry.import_recipients s on s.import_id = u.import_id and s.line between u.from_line and u.to_line
    where exists (select from unsure n, mine i where (n.claimed_at <= i.screened_at) is not true)
    union all
    select o.id, o.on_uncertain, false, j.recipient_hash, b.resends
    from mine i
    join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id <> i.id
    join ferry.import_batches b on b.import_id = o.id and b.resends > 0 and (b.claimed_at <= i.screened_at) is not true
    join ferry.import_rejects j on j.import_id = o.id and j.batch_id = b.id
  ), maybe_sent as materialized (
    select r.line, r.maybe_sent, e.import_id, e.times,
      e.undecided and 'hold' in (e.on_uncertain, i.on_uncertain) as is_held
    from elsewhere e
    join ferry.import_recipients r on r.import_id = $1 and r.recipient_hash = e.recipient_hash
    cross join mine i
    where e.times > 0 and ${IS_UNSENT}
  )`

/**
 * Returns why an import is not to go on: another one may have sent some of its rows, and one of the two is to hold what
 * is uncertain. Null if there is nothing of the kind.
 */
export async function findHeldElsewhere(client: PoolClient, importId: bigint): Promise<Pause | null> {
  const { rows } = await client.query<{ import_id: string; rows: number }>(
    `${MAYBE_SENT}
     select import_id, count(distinct line)::int as rows from maybe_sent where is_held
     group by import_id order by import_id limit 1`,
    [importId],
  )
  const [held] = rows
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

/** Calls resent what another import may have sent: the rows, and the batches that are ready with them. */
export async function markMaybeSent(client: PoolClient, importId: bigint): Promise<void> {
  await client.query(
    `${MAYBE_SENT}, more as materialized (
       select line, sum(times)::int as times, sum(times)::int - coalesce(max(maybe_sent), 0) as more
       from maybe_sent group by line having sum(times) > coalesce(max(maybe_sent), 0)
     ), marked as (
       update ferry.import_recipients r set maybe_sent = m.times from more m
       where r.import_id = $1 and r.line = m.line
     )
     update ferry.import_batches b set resends = b.resends + n.more
     from (
       select b.id, max(m.more) as more from more m
       join ferry.import_batches b on b.import_id = $1 and b.state in ('ready', 'doubted')
         and m.line between b.from_line and b.to_line
       group by b.id) n
     where b.id = n.id`,
    [importId],
  )
}
