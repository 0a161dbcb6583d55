import type { Pool } from 'pg'
import { analyzeRecipients } from '#src/imports/staging/staging.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'

export type LargeImport = {
  readonly rows: number
  /** Its recipients are numbered from this on; equal numbers are equal recipients. */
  readonly from?: number
  readonly update?: boolean
  /** Rows a batch. */
  readonly batchRows?: number
  /** Put into batches that are all sent. */
  readonly isSent?: boolean
  readonly page?: bigint
}

/** An import as staging leaves it, or as sending would, made within Postgres; returns its id. */
export async function putLargeImport(pool: Pool, large: LargeImport): Promise<bigint> {
  const { rows, from = 1, update = false, batchRows = 500, isSent = false, page = SANDBOX_PAGE_ID } = large
  const inserted = await pool.query<{ id: string }>(
    `insert into ferry.imports (account, page_id, method, status, file, columns, options, on_uncertain,
       update_existing, batch_rows, staged_at, confirmed_at, read, recipients, last_line)
     values ('default', $4, 'email', 'queued', 'bench.csv', '{email}', '{}', 'resend', $2, $3, clock_timestamp(),
       clock_timestamp(), $1, $1, $1::int + 1) returning id`,
    [rows, update, batchRows, page],
  )
  const id = inserted.rows[0]?.id ?? ''
  await pool.query(
    `insert into ferry.import_recipients (import_id, line, recipient_hash, "all", locale, recipient, raw)
     select $1, n - $2::int + 2, md5(address)::uuid, true, 'en-US', address, address || ',true,,en-US'
     from generate_series($2::int, $2::int + $3::int - 1) n
     cross join lateral (select 'first.last' || n || '@example.com' as address) a`,
    [id, from, rows],
  )
  if (isSent) {
    await pool.query(
      `insert into ferry.import_batches (import_id, from_line, to_line, rows, state, claimed_at, sent_at)
       select $1, n + 2, least(n + $3::int, $2::int) + 1, least($3::int, $2::int - n), 'sent', clock_timestamp(), clock_timestamp()
       from generate_series(0, $2::int - 1, $3::int) n`,
      [id, rows, batchRows],
    )
    await pool.query(
      `update ferry.imports set status = 'completed', batched_to = last_line, started_at = clock_timestamp(),
         finished_at = clock_timestamp() where id = $1`,
      [id],
    )
  }
  await analyzeRecipients(pool)
  return BigInt(id)
}
