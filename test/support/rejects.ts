import type { Pool } from 'pg'

export type PutReject = {
  readonly line: number
  readonly origin?: 'file' | 'platform'
  readonly reason?: string
  readonly message?: string
  readonly raw?: string
  readonly recipientHash?: string
  readonly requestId?: string
}

/** Puts rows of an import's file among its rejects, read and counted as staging and sending do. */
export async function putRejects(pool: Pool, id: bigint, rejects: readonly PutReject[]): Promise<void> {
  for (const { line, origin = 'file', reason = 'r', message = 'm', ...more } of rejects) {
    await pool.query(
      `with reject as (
         insert into ferry.import_rejects (import_id, line, origin, reason, message, raw, recipient_hash, request_id)
         values ($1, $2, $3, $4, $5, $6, $7, $8) returning origin
       )
       update ferry.imports set read = read + 1, rejected = rejected + 1,
         rejected_by_platform = rejected_by_platform + (reject.origin = 'platform')::int
       from reject where id = $1`,
      [id, line, origin, reason, message, more.raw, more.recipientHash, more.requestId],
    )
  }
}
