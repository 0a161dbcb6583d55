import type { PoolClient } from 'pg'
import { countOf } from '#src/db/rows.ts'
import type { Staging, StagingTables } from './staging.ts'

/**
 * Merges the rows of each recipient into the first of them. That row is then for all components if one of the rows is, else
 * for the components of every one of them; it keeps its locale, and gets the plainest spelling: in lower case and in ASCII
 * if one of them is. The other rows are moved to those left out, with what they
 * differed in. Returns how many.
 *
 * `import_repeated` has the hash of every recipient who has several rows, and of some who have one.
 */
export async function mergeDuplicates(client: PoolClient, { id, tables }: Staging): Promise<number> {
  const repeated = await client.query('select from pg_temp.import_repeated limit 1')
  if (countOf(repeated) === 0) return 0
  await client.query(`
    create temporary table import_repeats (
      line bigint, recipient_hash uuid, "all" boolean, component_ids text[], locale text, recipient text, kept_line bigint
    ) on commit drop;
    analyze pg_temp.import_repeated`)
  const repeats = await client.query(
    `insert into pg_temp.import_repeats
     select line, recipient_hash, "all", component_ids, locale, recipient, kept_line from (
       select r.*, min(r.line) over same as kept_line, count(*) over same as rows
       from ${tables.recipients} r
       where r.import_id = $1
         and exists (select from pg_temp.import_repeated s where s.recipient_hash = r.recipient_hash)
       window same as (partition by r.recipient_hash)
     ) repeats where rows > 1`,
    [id],
  )
  if (countOf(repeats) === 0) return 0
  await client.query('analyze pg_temp.import_repeats')
  const gone = await client.query(
    `delete from ${tables.recipients} r using pg_temp.import_repeats d
     where r.import_id = $1 and r.line = d.line and d.line <> d.kept_line`,
    [id],
  )
  await client.query(copyToLeftOut(tables), [id])
  await client.query(mergeSettings(tables), [id])
  return countOf(gone)
}

const copyToLeftOut = ({ leftOut }: StagingTables) => `
  insert into ${leftOut} (import_id, line, kind, reason, recipient_hash, kept_line, recipient)
  select $1, d.line, 'duplicate',
    case when d.locale <> kept.locale then 'other locale'
         when d."all" <> kept."all" or not (d.component_ids <@ kept.component_ids and d.component_ids @> kept.component_ids)
           then 'other components'
         else 'same settings' end,
    d.recipient_hash, d.kept_line, d.recipient
  from pg_temp.import_repeats d join pg_temp.import_repeats kept on kept.line = d.kept_line
  where d.line <> d.kept_line`

/** What the rows of a recipient have together, written into the first of them. */
const mergeSettings = ({ recipients }: StagingTables) => `
  with merged as (
    select kept_line, bool_or("all") as "all" from pg_temp.import_repeats group by kept_line
  ), united as (
    select kept_line, array_agg(distinct component order by component) as component_ids
    from pg_temp.import_repeats cross join unnest(component_ids) as component group by kept_line
  ), plainest as (
    select distinct on (kept_line) kept_line, recipient from pg_temp.import_repeats
    order by kept_line, recipient <> lower(recipient), octet_length(recipient) - char_length(recipient), line
  ), settings as (
    select m.kept_line, m."all", case when not m."all" then u.component_ids end as component_ids, p.recipient
    from merged m left join united u on u.kept_line = m.kept_line join plainest p on p.kept_line = m.kept_line
  )
  update ${recipients} r set "all" = s."all", component_ids = s.component_ids, recipient = s.recipient
  from settings s
  where r.import_id = $1 and r.line = s.kept_line
    and (r."all" <> s."all" or r.recipient <> s.recipient
      or not (r.component_ids <@ s.component_ids and r.component_ids @> s.component_ids))`
