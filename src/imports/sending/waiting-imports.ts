import type { Pool } from 'pg'
import { isHeldInSql } from '#src/db/lease-rows.ts'
import { findColumn, Int8 } from '#src/db/rows.ts'
import { isActiveInSql, isBehindInSql, leaseNameInSql } from '#src/imports/page.ts'

/** SQL that says whether any import is unfinished. Without one, none waits. */
export const ANY_UNFINISHED_IN_SQL = 'exists (select from ferry.imports where finished_at is null)'

/**
 * Returns the imports that could be sent now and that no worker is processing, those first that were served longest ago:
 * active, the oldest of their page, not backing off for longer than `withinMs`.
 */
export function listWaitingImports(pool: Pool, accounts: readonly string[], withinMs = 0): Promise<bigint[]> {
  return findColumn(
    pool,
    Int8,
    `select i.id from ferry.imports i
     where i.finished_at is null and ${isActiveInSql('i')} and i.account = any ($1)
       and (i.retry_at <= clock_timestamp() + $2 * interval '1 ms') is not false
       and not ${isHeldInSql(leaseNameInSql('i'))}
       and not ${isBehindInSql('i')}
     order by i.served_at nulls first, i.id`,
    [accounts, withinMs],
  )
}
