import { createHash } from 'node:crypto'
import type { Pool, PoolClient } from 'pg'
import { inTransaction } from '#src/db/pool.ts'
import { SANDBOX_PAGE_ID } from '#src/sandbox/state.ts'

export type StagedImport = {
  account?: string
  pageId?: bigint
  method?: string
  rows?: number
  /** The recipient of a line; lines count from 2, as after a header. */
  recipient?: (line: number) => string
  batchRows?: number
  firstRows?: number | null
  onUncertain?: 'resend' | 'hold'
  update?: boolean
  status?: string
}

/** An import as staging leaves it, put into the tables directly; returns its id. */
export function stageRows(pool: Pool, staged: StagedImport = {}): Promise<bigint> {
  return inTransaction(pool, client => putRows(client, staged))
}

async function putRows(client: PoolClient, staged: StagedImport): Promise<bigint> {
  const { rows = 10, recipient = (line: number) => `p${line}@example.com` } = staged
  const lines = Array.from({ length: rows }, (_, index) => index + 2)
  const inserted = await client.query<{ id: string }>(
    `insert into ferry.imports (account, page_id, method, status, file, columns, options, on_uncertain,
       update_existing, batch_rows, first_rows, staged_at, confirmed_at, read, recipients, last_line)
     values ($1, $2, $3, $4, 'test.csv', '{email}', '{}', $5, $6, $7, $8, clock_timestamp(),
       case when $4 <> 'staging' then clock_timestamp() end, $9, $9, $9 + 1) returning id`,
    [
      staged.account ?? 'default',
      staged.pageId ?? SANDBOX_PAGE_ID,
      staged.method ?? 'email',
      staged.status ?? 'queued',
      staged.onUncertain ?? 'resend',
      staged.update ?? false,
      staged.batchRows ?? 500,
      staged.firstRows ?? null,
      rows,
    ],
  )
  const id = inserted.rows[0]?.id ?? ''
  await client.query(
    `insert into ferry.import_recipients (import_id, line, recipient_hash, "all", locale, recipient, raw)
     select $1, line, hash::uuid, true, 'en-US', recipient, recipient
     from unnest($2::bigint[], $3::text[], $4::text[]) as r (line, hash, recipient)`,
    [id, lines, lines.map(line => hashOf(recipient(line))), lines.map(recipient)],
  )
  return BigInt(id)
}

/** Replaces staging's own hash: equal recipients have equal ones. */
function hashOf(recipient: string): string {
  return createHash('md5').update(recipient.toLowerCase()).digest('hex')
}
