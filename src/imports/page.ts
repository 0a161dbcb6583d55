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
  return `${i}.status in (${ACTIVE_STATUSES.map(status => `'${status}'`).join(', ')})`
}

/** In SQL, whether `older` is sent before `i`: it is an older import of the same page that is active. */
export function isOlderActiveInSql(older: string, i: string): string {
  return `(${isSamePage(i, older)} and ${older}.id < ${i}.id and ${isActiveInSql(older)})`
}

/** In SQL, whether another import of the page of row `i` is sent before it. */
export function isBehindInSql(i: string): string {
  return `exists (select from ferry.imports older where ${isOlderActiveInSql('older', i)})`
}
