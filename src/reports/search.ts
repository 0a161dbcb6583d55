import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll } from '#src/db/rows.ts'

/** What has exactly this id or request id, or an import of a file whose name has these words. */
const Hit = z.object({
  kind: z.enum(['rule', 'server', 'import', 'run', 'call']),
  account: z.string(),
  id: z.string(),
  /** The name of a rule or server, the file of an import, what a run read, the operation of a call. */
  name: z.string().nullable(),
  at: z.date(),
  isExact: z.boolean(),
})
export type Hit = Readonly<z.infer<typeof Hit>>

const MAX_ID = 2n ** 63n - 1n

/** Looks an id up by the keys of the tables, also of what is gone. At most `limit` of each kind. */
export function search(pool: Pool, words: string, limit: number): Promise<Hit[]> {
  const number = /^\d{1,20}$/.test(words) ? BigInt(words) : null
  const id = number !== null && number <= MAX_ID ? number : null
  return findAll(pool, Hit, SEARCH, [words, number, id, limit])
}

const SEARCH = `
  (select distinct on (account) 'rule' as kind, account, id::text as id, left(name, 1000) as name, valid_from as at, true as is_exact
   from ferry.alert_rule_versions where id = $2::numeric order by account, valid_from desc limit $4)
  union all
  (select distinct on (account) 'server', account, server_id, left(server_name, 1000), valid_from, true
   from ferry.mcp_server_versions where server_id = $1::text order by account, valid_from desc limit $4)
  union all
  (select 'import', account, id::text, file, created_at, true from ferry.imports where id = $3::bigint)
  union all
  (select 'run', account, id::text, resource, started_at, true from ferry.sync_runs where id = $3::bigint)
  union all
  (select 'call', account, request_id, operation, started, true from ferry.platform_calls
   where request_id = $1::text order by started desc limit $4)
  union all
  (select 'import', account, id::text, file, created_at, false from ferry.imports
   where strpos(lower(file), lower($1::text)) > 0 order by id desc limit $4)`
