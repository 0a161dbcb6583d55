import type { Pool } from 'pg'
import type { Delivered } from '#src/sandbox/state.ts'

/** What is wrong with the rows of any import at this moment, one line each; nothing if every row is accounted for. */
export async function rowsUnaccounted(pool: Pool): Promise<string[]> {
  const { rows } = await pool.query<Record<'id' | 'missing' | 'homeless' | 'miscounted', string>>(
    `with rows_of as (
       select i.id, i.read, i.recipients as said, i.batched_to,
         (select count(*) from ferry.import_recipients r where r.import_id = i.id) as recipients,
         (select count(*) from ferry.import_rejects r where r.import_id = i.id) as rejects,
         (select count(*) from ferry.import_left_out r where r.import_id = i.id) as left_out
       from ferry.imports i where i.status <> 'staging'
     ), homes as (
       select r.import_id, count(*) filter (where homes <> 1) as homeless
       from ferry.import_recipients r
       join ferry.imports i on i.id = r.import_id
       cross join lateral (
         select (r.line > i.batched_to)::int + count(*) as homes from ferry.import_batches b
         where b.import_id = r.import_id and b.state <> 'split' and r.line between b.from_line and b.to_line) h
       group by r.import_id
     ), counted as (
       select b.import_id, count(*) as miscounted from ferry.import_batches b
       where b.state <> 'split' and b.rows <> (select count(*) from ferry.import_recipients r
         where r.import_id = b.import_id and r.line between b.from_line and b.to_line)
       group by b.import_id
     )
     select id, read - recipients - rejects - left_out + abs(said - recipients) as missing,
       coalesce(homeless, 0) as homeless, coalesce(miscounted, 0) as miscounted
     from rows_of left join homes on homes.import_id = id left join counted on counted.import_id = id
     where read <> recipients + rejects + left_out or said <> recipients
       or coalesce(homeless, 0) + coalesce(miscounted, 0) > 0`,
  )
  return rows.map(
    ({ id, missing, homeless, miscounted }) =>
      `import ${id}: ${missing} rows missing, ${homeless} not in exactly one batch, ${miscounted} batches miscounted`,
  )
}

/** What the ledger says of one recipient: the batch that decides, null before there is one; or that it is rejected. */
export type LedgerEntry = {
  readonly recipient: string
  readonly state: string | null
  readonly resends: number
  readonly uncertain: boolean
  /** In how many calls it may have been: those of its batch and of the batches that was split from. */
  readonly calls: number
}

/** Every recipient of an import, those the platform rejected too, and the batch whose range it lies in. */
export async function ledgerOf(pool: Pool, id: bigint): Promise<LedgerEntry[]> {
  const { rows } = await pool.query<LedgerEntry>(
    `with recursive source as (
       select b.id as leaf, b.id, b.parent_id from ferry.import_batches b where b.import_id = $1
       union all
       select s.leaf, p.id, p.parent_id from source s join ferry.import_batches p on p.id = s.parent_id
     ), calls as (
       select s.leaf, count(*)::int as calls from source s join ferry.platform_calls c on c.batch_id = s.id group by s.leaf
     ), people as (
       select r.line, r.recipient, null as state, b.id as batch
       from ferry.import_recipients r
       left join ferry.import_batches b on b.import_id = r.import_id and b.state <> 'split'
         and r.line between b.from_line and b.to_line
       where r.import_id = $1
       union all
       select j.line, j.raw, 'rejected', j.batch_id from ferry.import_rejects j
       where j.import_id = $1 and j.origin = 'platform'
     )
     select p.recipient, coalesce(p.state, b.state) as state, coalesce(b.resends, 0) as resends,
       coalesce(b.uncertain, false) as uncertain, coalesce(c.calls, 0) as calls
     from people p left join ferry.import_batches b on b.id = p.batch left join calls c on c.leaf = p.batch
     order by p.line`,
    [id],
  )
  return rows
}

/**
 * Where the ledger and the platform disagree, one line each: nobody sent is missing there, and nobody was delivered more
 * often than the ledger admits (once, once more for each resend, and once for an outcome that is still uncertain). If a
 * refused call may have been applied in part, it admits one delivery for each call.
 */
export function disagreements(
  ledger: readonly LedgerEntry[],
  delivered: readonly Delivered[],
  { refusedMayBeApplied = false } = {},
): string[] {
  const deliveries = new Map(delivered.map(one => [one.recipient, one.deliveries]))
  return ledger.flatMap(({ recipient, state, resends, uncertain, calls }) => {
    const times = deliveries.get(recipient) ?? 0
    const least = state === 'sent' ? 1 : 0
    const most = (state === 'sent' || uncertain || state === 'in flight' ? 1 : 0) + resends
    if (times >= least && times <= (refusedMayBeApplied ? calls : most)) return []
    return [
      `${recipient}: delivered ${times} times, ${state} with ${resends} resends and ${calls} calls in the ledger`,
    ]
  })
}
