import type { PoolClient } from 'pg'
import { IS_UNCERTAIN } from './progress.ts'
import type { Staging } from './staging.ts'

/** To which page, and whether who was sent there with other settings is to be sent again. */
export type Destination = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  readonly update: boolean
}

/*
 * A staged import against what other imports have sent to its page: what `leaveOutSent` will leave out, if it starts now.
 * The rows of batches are looked up by their range (OFFSET keeps the planner from joining them by import alone, which
 * would be rows times batches), and compared by hash, since staging has turned loops off.
 */

const OTHERS = `
  select o.id, b.id as batch_id, b.from_line, b.to_line, b.sent_at, b.state, b.resends, ${IS_UNCERTAIN} as undecided,
    o.on_uncertain
  from ferry.imports o join ferry.import_batches b on b.import_id = o.id
  where o.account = $2 and o.page_id = $3 and o.method = $4 and o.id <> $1`

const UNSURE = `
  select * from others where state not in ('sent', 'rejected', 'split', 'left out') and (undecided or resends > 0)`

const rowsOf = (batches: string) => `
  ${batches} b cross join lateral (
    select * from ferry.import_recipients s
    where s.import_id = b.id and s.line between b.from_line and b.to_line offset 0) s`

const SENT = `
  select r.line from RECIPIENTS r
  where r.import_id = $1 and r.recipient_hash in (select s.recipient_hash from ${rowsOf('sent')})`

/** With the settings that were sent last, and nobody knows of any sent since. */
const SENT_THE_SAME = `
  select r.line from RECIPIENTS r
  join (
    select distinct on (s.recipient_hash) s.recipient_hash, s."all", s.component_ids, s.locale
    from ${rowsOf('sent')}
    order by s.recipient_hash, b.sent_at desc, b.id desc) l
  on l.recipient_hash = r.recipient_hash and l.locale = r.locale and l."all" = r."all"
    and (r."all" or (r.component_ids @> l.component_ids and r.component_ids <@ l.component_ids))
  where r.import_id = $1 and not exists (
    select from (
      select s.recipient_hash from ${rowsOf('unsure')}
      where b.undecided or b.resends > coalesce(s.maybe_sent, 0)
      union all
      select j.recipient_hash from others b join ferry.import_rejects j on j.import_id = b.id and j.batch_id = b.batch_id
      where b.resends > 0) u
    where u.recipient_hash = r.recipient_hash)`

/**
 * Notes the lines of a staged import whose recipients other imports have sent to its page, in `import_sent_before`;
 * returns how many.
 */
export async function noteSentBefore(
  client: PoolClient,
  { id, tables }: Staging,
  { account, pageId, method, update }: Destination,
): Promise<number> {
  const noted = await client.query(
    `with others as materialized (${OTHERS}),
       sent as materialized (select * from others where state = 'sent'),
       unsure as materialized (${UNSURE})
     insert into pg_temp.import_sent_before (line)
     ${(update ? SENT_THE_SAME : SENT).replace('RECIPIENTS', tables.recipients)}`,
    [id, account, pageId, method],
  )
  return noted.rowCount ?? 0
}

/** Rows that another import may have sent, and whether this one would wait for a decision about it before it sends any. */
export type MaybeSentBefore = {
  readonly earlierImport: bigint
  readonly rows: number
  readonly isHeld: boolean
}

/**
 * What the start of a staged import will find uncertain elsewhere, by the rules of `screen`: which other imports may have
 * sent rows of it that are not in `import_sent_before`. Reads only the rows of their batches that are uncertain.
 */
export async function loadMaybeSentBefore(
  client: PoolClient,
  { id, tables }: Staging,
  { account, pageId, method }: Destination,
  onUncertain: string,
): Promise<MaybeSentBefore[]> {
  const { rows } = await client.query<{ id: string; is_held: boolean; rows: number }>(
    `with others as materialized (${OTHERS}),
       unsure as materialized (${UNSURE}),
       maybe as materialized (
         select b.id, s.recipient_hash, b.undecided and 'hold' in (b.on_uncertain, $5) as is_held
         from ${rowsOf('unsure')}
         where b.undecided or b.resends > coalesce(s.maybe_sent, 0)
         union all
         select b.id, j.recipient_hash, false
         from others b join ferry.import_rejects j on j.import_id = b.id and j.batch_id = b.batch_id
         where b.resends > 0)
     select m.id, m.is_held, count(distinct r.line)::int as rows
     from maybe m join ${tables.recipients} r on r.recipient_hash = m.recipient_hash
     where r.import_id = $1 and not exists (select from pg_temp.import_sent_before s where s.line = r.line)
     group by m.id, m.is_held order by m.is_held desc, m.id`,
    [id, account, pageId, method, onUncertain],
  )
  return rows.map(row => ({ earlierImport: BigInt(row.id), rows: row.rows, isHeld: row.is_held }))
}
