import type { Pool, PoolClient } from 'pg'
import type { Staging } from './staging.ts'

/** Makes the table for the hashes of recipients who are not to be imported, of this transaction only. */
export async function createSuppressions(client: PoolClient): Promise<string> {
  await client.query(
    'create temporary table import_suppressions (recipient_hash uuid not null) on commit drop',
  )
  return 'pg_temp.import_suppressions (recipient_hash) from stdin'
}

/** Moves the recipients on the suppression list out of those to be sent; returns how many rows. */
export async function leaveOutSuppressed(client: PoolClient, { id, tables }: Staging): Promise<number> {
  const moved = await client.query(
    `with gone as (
       delete from ${tables.recipients} r
       where r.import_id = $1
         and exists (select from pg_temp.import_suppressions s where s.recipient_hash = r.recipient_hash)
       returning r.line, r.recipient_hash, r.recipient
     )
     insert into ${tables.leftOut} (import_id, line, kind, reason, recipient_hash, recipient)
     select $1, line, 'suppressed', 'suppression list', recipient_hash, recipient from gone`,
    [id],
  )
  return moved.rowCount ?? 0
}

/**
 * Merges the rows of one recipient into the first of them: it is for all components if one of them is, else for those of
 * every one of them; its locale stays. The other rows are moved out, with what they differed in; returns how many.
 *
 * `import_repeated` has the hashes of every recipient who comes twice, and of some who do not.
 */
export async function mergeDuplicates(client: PoolClient, { id, tables }: Staging): Promise<number> {
  const { rowCount } = await client.query('select from pg_temp.import_repeated limit 1')
  if (rowCount === 0) return 0
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
  if (repeats.rowCount === 0) return 0
  await client.query('analyze pg_temp.import_repeats')
  const gone = await client.query(
    `delete from ${tables.recipients} r using pg_temp.import_repeats d
     where r.import_id = $1 and r.line = d.line and d.line <> d.kept_line`,
    [id],
  )
  await client.query(
    `insert into ${tables.leftOut} (import_id, line, kind, reason, recipient_hash, kept_line, recipient)
     select $1, d.line, 'duplicate',
       case when d.locale <> kept.locale then 'other locale'
            when d."all" <> kept."all" or not (d.component_ids <@ kept.component_ids and d.component_ids @> kept.component_ids)
              then 'other components'
            else 'same settings' end,
       d.recipient_hash, d.kept_line, d.recipient
     from pg_temp.import_repeats d join pg_temp.import_repeats kept on kept.line = d.kept_line
     where d.line <> d.kept_line`,
    [id],
  )
  await client.query(
    `with merged as (
       select kept_line, bool_or("all") as "all" from pg_temp.import_repeats group by kept_line
     ), united as (
       select kept_line, array_agg(distinct component order by component) as component_ids
       from pg_temp.import_repeats cross join unnest(component_ids) as component group by kept_line
     ), settings as (
       select m.kept_line, m."all", case when not m."all" then u.component_ids end as component_ids
       from merged m left join united u on u.kept_line = m.kept_line
     )
     update ${tables.recipients} r set "all" = s."all", component_ids = s.component_ids
     from settings s
     where r.import_id = $1 and r.line = s.kept_line
       and (r."all" <> s."all"
         or not (r.component_ids <@ s.component_ids and r.component_ids @> s.component_ids))`,
    [id],
  )
  return gone.rowCount ?? 0
}

/** Why rows are not to be sent, and how many; the most frequent first. */
export type StagedReason = {
  readonly kind: 'rejected' | 'duplicate' | 'suppressed' | 'already imported'
  readonly reason: string
  readonly rows: number
}

/** Counts the rows that are not to be sent by why. */
export async function countReasons(
  client: PoolClient,
  { id, tables }: Staging,
): Promise<readonly StagedReason[]> {
  const { rows } = await client.query<StagedReason>(
    `select 'rejected' as kind, reason, count(*)::int as rows from ${tables.rejects} where import_id = $1 group by reason
     union all
     select kind, reason, count(*)::int from ${tables.leftOut} where import_id = $1 group by kind, reason
     order by rows desc, reason`,
    [id],
  )
  return rows
}

export type StagedSample = {
  readonly line: bigint
  readonly recipient: string
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
}

export type RejectSample = { readonly line: bigint; readonly column: string | null; readonly message: string }

/** The first rows to be sent and the first rejected ones. `sentBefore` is how many are in `import_sent_before`. */
export async function loadSamples(
  client: PoolClient,
  { id, tables }: Staging,
  most: number,
  sentBefore: number,
): Promise<{ samples: StagedSample[]; rejects: RejectSample[] }> {
  const samples = await client.query<Record<string, never>>(
    `select line, recipient, "all", component_ids, locale from ${tables.recipients} r
     where import_id = $1
       ${sentBefore > 0 ? 'and not exists (select from pg_temp.import_sent_before s where s.line = r.line)' : ''}
     order by line limit $2`,
    [id, most],
  )
  const rejects = await client.query<{ line: string; column: string | null; message: string }>(
    `select line, "column", message from ${tables.rejects} where import_id = $1 order by line limit $2`,
    [id, most],
  )
  return {
    samples: samples.rows.map(row => ({
      line: BigInt(row.line ?? 0),
      recipient: row.recipient ?? '',
      all: row.all ?? false,
      componentIds: row.component_ids ?? [],
      locale: row.locale ?? '',
    })),
    rejects: rejects.rows.map(row => ({ ...row, line: BigInt(row.line) })),
  }
}

/** Ends a staging: from now on the import waits to be confirmed. */
export async function finishStaging(
  client: PoolClient,
  { id }: Staging,
  counts: { read: number; recipients: number; lastLine: number; reasons: readonly StagedReason[] },
): Promise<void> {
  const rowsOf = (kind: StagedReason['kind']) =>
    counts.reasons.filter(reason => reason.kind === kind).reduce((sum, { rows }) => sum + rows, 0)
  await client.query(
    `update ferry.imports set staged_at = clock_timestamp(), read = $2, recipients = $3, last_line = $4, rejected = $5,
       duplicate = $6, suppressed = $7
     where id = $1`,
    [
      id,
      counts.read,
      counts.recipients,
      counts.lastLine,
      rowsOf('rejected'),
      rowsOf('duplicate'),
      rowsOf('suppressed'),
    ],
  )
}

/** Lets the planner know of the rows just staged; of the columns by which they are looked for, for it takes a while. */
export async function analyzeRecipients(pool: Pool): Promise<void> {
  await pool.query('analyze ferry.import_recipients (import_id, line, recipient_hash)')
  await pool.query('analyze ferry.import_batches (import_id, state, from_line, sent_at)')
}
