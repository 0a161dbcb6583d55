import type { Pool } from 'pg'

/**
 * The imports that could be worked on now and that nobody is at, those first that were served longest ago: confirmed,
 * first of their page, not backing off.
 */
export async function listWaitingImports(pool: Pool, accounts: readonly string[]): Promise<bigint[]> {
  const { rows } = await pool.query<{ id: string }>(
    `select i.id from ferry.imports i
     where i.finished_at is null and i.status in ('queued', 'running') and i.account = any ($1)
       and (i.retry_at <= clock_timestamp()) is not false
       and not exists (
         select from ferry.leases l
         where l.name = 'import:' || i.account || ':' || i.page_id || ':' || i.method
           and l.expires_at > clock_timestamp())
       and not exists (
         select from ferry.imports o
         where o.account = i.account and o.page_id = i.page_id and o.method = i.method and o.id < i.id
           and o.status in ('queued', 'running'))
     order by i.served_at nulls first, i.id`,
    [accounts],
  )
  return rows.map(row => BigInt(row.id))
}

/**
 * Ends claims of all imports of a page that nobody will end any more, this one's too. One after another: whoever locks
 * several imports at once would wait for those who lock them in another order.
 */
export async function settleLostClaimsOfPage(pool: Pool, importId: bigint): Promise<void> {
  const { rows } = await pool.query<{ id: string }>(
    `select distinct o.id from ferry.imports i
     join ferry.imports o on o.account = i.account and o.page_id = i.page_id and o.method = i.method
     join ferry.import_batches b on b.import_id = o.id and b.state = 'in flight'
       and b.claim_ends_at <= clock_timestamp()
     where i.id = $1`,
    [importId],
  )
  for (const { id } of rows) await pool.query('select ferry.settle_claims($1)', [id])
}

/** Ends claims that nobody will end any more, whatever their imports' status; returns how many. */
export async function settleLostClaims(pool: Pool): Promise<number> {
  const { rows } = await pool.query<{ settled: number }>(
    `select coalesce(sum(ferry.settle_claims(l.import_id)), 0)::int as settled
     from (select distinct import_id from ferry.import_batches
           where state = 'in flight' and claim_ends_at <= clock_timestamp() order by import_id) l`,
  )
  return rows[0]?.settled ?? 0
}
