import type { Pool } from 'pg'
import { z } from 'zod'
import { findColumn } from '#src/db/rows.ts'
import type { Resource } from '#src/model/resource.ts'

/** What people narrow a list by and may misspell. */
export type KnownWords = 'names' | 'folders' | 'editors'

/** So many current rows are looked at: enough for a hint, and few enough to be quick. */
const MAX_ROWS = 20_000

/** Returns the words of names, the folders, or the last editors of current rows, each once. Servers have only names. */
export async function listKnownWords(pool: Pool, resource: Resource, what: KnownWords): Promise<string[]> {
  if (resource === 'mcp-servers') {
    return what === 'names'
      ? findColumn(pool, z.string(), wordsIn('server_name', 'mcp_servers'), [MAX_ROWS])
      : []
  }
  const asked = {
    names: wordsIn('name', 'alert_rules'),
    folders:
      'select distinct folder_id::text as word from (select folder_id from ferry.alert_rules limit $1) r',
    editors:
      'select distinct updater_name as word from (select updater_name from ferry.alert_rules limit $1) r',
  }
  return findColumn(pool, z.string(), asked[what], [MAX_ROWS])
}

function wordsIn(column: string, view: string): string {
  return `select distinct w.word from (select ${column} as name from ferry.${view} where ${column} <> '' limit $1) r
    cross join lateral regexp_split_to_table(lower(left(r.name, 200)), '[^[:alnum:]]+') w (word)
    where length(w.word) > 2`
}
