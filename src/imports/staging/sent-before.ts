import type { PoolClient } from 'pg'
import { z } from 'zod'
import { countOf, findAll, Int8 } from '#src/db/rows.ts'
import { isSamePage } from '#src/imports/page.ts'
import {
  haveSameSettings,
  isHeldFor,
  MAY_BE_SENT,
  ROWS_OF_BATCH,
  TIMES_MAYBE_SENT,
} from '#src/imports/sent-elsewhere.ts'
import { IS_UNCERTAIN } from '#src/imports/states.ts'
import type { Staging } from './staging.ts'

/** The page that rows are sent to. With `update`, recipients who were sent with other settings are sent again. */
export type Destination = {
  readonly account: string
  readonly pageId: bigint
  readonly method: string
  readonly update: boolean
}

/*
 * Compares a staged import with what other imports have sent to its page: what sending will leave out (see
 * `sending/start.ts`), if the work begins now. Both are made of the rules in `sent-elsewhere.ts`. Rows are
 * compared by hash joins, since staging has turned nested loops off.
 */

const OTHERS = `
  select o.id as import_id, b.id as batch_id, b.from_line, b.to_line, b.call_id, b.state, b.resends,
    ${IS_UNCERTAIN} as is_uncertain, ${MAY_BE_SENT} as may_be_sent, o.on_uncertain
  from (select $2::text as account, $3::numeric as page_id, $4::text as method) d
  join ferry.imports o on ${isSamePage('d', 'o')}
  join ferry.import_batches b on b.import_id = o.id
  where o.id <> $1`

const MAYBE_SENT = 'select * from others where may_be_sent'

const rowsOf = (batches: string) => `${batches} b ${ROWS_OF_BATCH}`

const SENT = `
  select r.line from RECIPIENTS r
  where r.import_id = $1 and r.recipient_hash in (select s.recipient_hash from ${rowsOf('sent')})`

/** Rows with the settings that were sent last, and after which no others may have been sent. */
const SENT_THE_SAME = `
  select r.line from RECIPIENTS r
  join (
    select distinct on (s.recipient_hash) s.recipient_hash, s."all", s.component_ids, s.locale
    from ${rowsOf('sent')}
    order by s.recipient_hash, b.call_id desc, b.import_id desc) l
  on l.recipient_hash = r.recipient_hash and ${haveSameSettings('r', 'l')}
  where r.import_id = $1 and not exists (
    select from (
      select s.recipient_hash from ${rowsOf('maybe_sent_batches')}
      where ${TIMES_MAYBE_SENT} > 0
      union all
      select j.recipient_hash from others b join ferry.import_rejects j on j.import_id = b.import_id and j.batch_id = b.batch_id
      where b.resends > 0) u
    where u.recipient_hash = r.recipient_hash)`

/**
 * Puts the lines of a staged import whose recipients other imports have sent to its page into `import_sent_before`. Returns
 * how many.
 */
export async function noteSentBefore(
  client: PoolClient,
  { id, tables }: Staging,
  { account, pageId, method, update }: Destination,
): Promise<number> {
  const noted = await client.query(
    `with others as materialized (${OTHERS}),
       sent as materialized (select * from others where state = 'sent'),
       maybe_sent_batches as materialized (${MAYBE_SENT})
     insert into pg_temp.import_sent_before (line)
     ${(update ? SENT_THE_SAME : SENT).replace('RECIPIENTS', tables.recipients)}`,
    [id, account, pageId, method],
  )
  return countOf(noted)
}

const MaybeSentBefore = z.object({
  earlierImport: Int8,
  rows: z.number(),
  isHeld: z.boolean(),
})
/** Rows that another import may have sent. If held, this import would wait for a decision before it sends any row. */
export type MaybeSentBefore = Readonly<z.infer<typeof MaybeSentBefore>>

/**
 * Returns which other imports may have sent rows of a staged import that are not in `import_sent_before`, by the rules that
 * sending applies when the work begins. Reads only the rows of batches that may have been sent.
 */
export function loadMaybeSentBefore(
  client: PoolClient,
  { id, tables }: Staging,
  { account, pageId, method }: Destination,
  onUncertain: string,
): Promise<MaybeSentBefore[]> {
  return findAll(
    client,
    MaybeSentBefore,
    `with others as materialized (${OTHERS}),
       maybe_sent_batches as materialized (${MAYBE_SENT}),
       maybe as materialized (
         select b.import_id, s.recipient_hash, ${isHeldFor('b.is_uncertain', 'b.on_uncertain', '$5')} as is_held
         from ${rowsOf('maybe_sent_batches')}
         where ${TIMES_MAYBE_SENT} > 0
         union all
         select b.import_id, j.recipient_hash, false
         from others b join ferry.import_rejects j on j.import_id = b.import_id and j.batch_id = b.batch_id
         where b.resends > 0)
     select m.import_id as earlier_import, m.is_held, count(distinct r.line)::int as rows
     from maybe m join ${tables.recipients} r on r.recipient_hash = m.recipient_hash
     where r.import_id = $1 and not exists (select from pg_temp.import_sent_before s where s.line = r.line)
     group by m.import_id, m.is_held order by m.is_held desc, m.import_id`,
    [id, account, pageId, method, onUncertain],
  )
}
