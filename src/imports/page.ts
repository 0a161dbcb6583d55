import type { PoolClient } from 'pg'
import { wordsInSql } from '#src/db/words-in-sql.ts'
import { ACTIVE_STATUSES } from '#src/model/import.ts'

/*
 * Imports of one page: those with the same account, page and method. They are sent one after another, the oldest first.
 */

export type ImportPage = { readonly account: string; readonly pageId: bigint; readonly method: string }

const LEASE_KIND = 'import'

/** The lease under which imports of a page are sent. */
export function leaseNameOf({ account, pageId, method }: ImportPage): string {
  return [LEASE_KIND, account, pageId, method].join(':')
}

/** The same name in SQL, for the row `i` of `ferry.imports`. */
export function leaseNameInSql(i: string): string {
  return `concat_ws(':', '${LEASE_KIND}', ${i}.account, ${i}.page_id, ${i}.method)`
}

/** In SQL, whether two rows of `ferry.imports` are of the same page. */
export function isSamePage(one: string, other: string): string {
  return `${other}.account = ${one}.account and ${other}.page_id = ${one}.page_id and ${other}.method = ${one}.method`
}

/** In SQL, whether a row of `ferry.imports` is active: it is sent, or waits to be sent. */
export function isActiveInSql(i: string): string {
  return `${i}.status in (${wordsInSql(ACTIVE_STATUSES)})`
}

/** In SQL, whether `older` is sent before `i`: it is an older import of the same page that is active. */
export function isOlderActiveInSql(older: string, i: string): string {
  return `(${isSamePage(i, older)} and ${older}.id < ${i}.id and ${isActiveInSql(older)})`
}

/** In SQL, whether another import of the page of row `i` is sent before it. */
export function isBehindInSql(i: string): string {
  return `exists (select from ferry.imports older where ${isOlderActiveInSql('older', i)})`
}

/**
 * Locks all imports of an import's page, so that what was sent there does not change, and makes the others look again at
 * what was sent. They are locked in the order of their ids: two that do this at once do not wait for each other.
 */
export async function lockPage(client: PoolClient, id: bigint): Promise<void> {
  await client.query(
    `select from ferry.imports o join ferry.imports i on ${isSamePage('i', 'o')}
     where i.id = $1 order by o.id for update of o`,
    [id],
  )
  await client.query(
    `update ferry.imports o set excluded_to_call = null, excluding_to_call = null from ferry.imports i
     where i.id = $1 and ${isSamePage('i', 'o')} and o.id <> i.id
       and o.finished_at is null and coalesce(o.excluded_to_call, o.excluding_to_call) is not null`,
    [id],
  )
}
