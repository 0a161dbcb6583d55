import type { Pool } from 'pg'

/** Puts a row of an import's file among those left out, as a duplicate of another line; read and counted as staging does. */
export async function putDuplicate(
  pool: Pool,
  id: bigint,
  { line, keptLine, recipient }: { line: number; keptLine: number; recipient: string },
): Promise<void> {
  await pool.query(
    `with left_out as (
       insert into ferry.import_left_out (import_id, line, kind, reason, kept_line, recipient)
       values ($1, $2, 'duplicate', 'the same recipient', $3, $4)
     )
     update ferry.imports set read = read + 1, duplicate = duplicate + 1 where id = $1`,
    [id, line, keptLine, recipient],
  )
}
