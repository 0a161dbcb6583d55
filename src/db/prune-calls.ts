import type { SQL } from 'drizzle-orm'
import type { Pool } from 'pg'
import { and, drizzleOf, lt, not, sql } from './drizzle.ts'
import { type OldRows, rowsOlderThan } from './prune.ts'
import { onlyRow } from './rows.ts'
import { platformCalls } from './schema.ts'

/** Calls read in one transaction. */
const BATCH_ROWS = 5_000

/**
 * Returns the old rows of the call log, but not those that `isKept`, a condition in SQL, says belong to another record.
 * They are read in the order of their ids, which is that of their times, up to the first `BATCH_ROWS` that are all young.
 */
export function oldCalls(pool: Pool, keepMs: number | null, isKept: SQL): OldRows {
  return rowsOlderThan(
    pool,
    keepMs,
    'ferry.platform_calls',
    async ago => {
      const isOld = and(lt(platformCalls.counted_by, sql`${ago}::timestamptz`), not(isKept))
      return drizzleOf(pool).$count(platformCalls, isOld)
    },
    ago => {
      let after = '0'
      return async () => {
        const { last, old, removed } = await removeAfter(pool, after, ago, isKept)
        after = last ?? after
        return { removed, isLast: last === null || old === 0 }
      }
    },
  )
}

type Page = { readonly last: string | null; readonly old: number; readonly removed: number }

async function removeAfter(pool: Pool, after: string, ago: string, isKept: SQL): Promise<Page> {
  const { rows } = await drizzleOf(pool).execute<Page>(sql`
    with page as materialized (
      select id, counted_by < ${ago}::timestamptz as is_old from ferry.platform_calls
      where id > ${after}::bigint order by id limit ${BATCH_ROWS}
    ), gone as (
      delete from ferry.platform_calls
      where id > ${after}::bigint and id <= (select max(id) from page) and counted_by < ${ago}::timestamptz
        and not (${isKept})
      returning id
    )
    select max(id)::text as last, count(*) filter (where is_old)::int as old,
      (select count(*)::int from gone) as removed
    from page`)
  return onlyRow(rows, 'the count of pruned calls')
}
