import type { Pool } from 'pg'

export type BatchRow = {
  readonly line: bigint
  readonly recipient: string
  readonly all: boolean
  readonly componentIds: readonly string[]
  readonly locale: string
}

/**
 * The rows of a batch that are to be sent: those set aside are left out. Looked up by their range (OFFSET keeps the
 * planner from joining them, for which it would read every row of the import).
 */
export async function loadRows(pool: Pool, batchId: bigint): Promise<BatchRow[]> {
  const { rows } = await pool.query<Omit<BatchRow, 'line'> & { line: string }>(
    `select r.line, r.recipient, r."all", coalesce(r.component_ids, '{}') as "componentIds", r.locale
     from ferry.import_batches b
     cross join lateral (
       select * from ferry.import_recipients r
       where r.import_id = b.import_id and r.line between b.from_line and b.to_line offset 0) r
     where b.id = $1 and r.line <> all (b.set_aside) order by r.line`,
    [batchId],
  )
  return rows.map(row => ({ ...row, line: BigInt(row.line) }))
}
