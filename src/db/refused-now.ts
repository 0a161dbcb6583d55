import type { PoolClient } from 'pg'
import { z } from 'zod'
import { findAll } from './rows.ts'

const Refused = z.object({ account: z.string(), operation: z.string(), code: z.string() })

/** Polls come more often. What is not asked again, such as an import that is paused, is not refused for ever. */
const FORGOTTEN_AFTER_MINUTES = 16

/**
 * Returns the operations whose last call the platform refused for its key, licence, balance or permission, lately. A key that is
 * accepted for one operation is a right one for all.
 */
export function listRefusedNow(client: PoolClient): Promise<z.infer<typeof Refused>[]> {
  return findAll(
    client,
    Refused,
    `select account, operation, error_code as code from (
       select distinct on (account, operation) id, account, operation, error_code, http_status from ferry.platform_calls
       where started > statement_timestamp() - $1 * interval '1 min' and error_code is not null and http_status in (401, 402, 403)
       order by account, operation, id desc
     ) c
     where not exists (
       select from ferry.platform_calls o
       where o.id > c.id and o.account = c.account and (o.operation = c.operation or c.http_status = 401)
         and o.http_status between 200 and 299
     )
     order by account, operation`,
    [FORGOTTEN_AFTER_MINUTES],
  )
}
