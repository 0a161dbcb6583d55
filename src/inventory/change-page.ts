import type { Pool } from 'pg'
import {
  type ChangeKey,
  type ChangeList,
  type ChangePageFilter,
  ctesOf,
  listsOf,
  nameOf,
} from './change-lists.ts'
import { type ChangeRow, contentsOf } from './changes.ts'
import { keyInstant } from './key-instant.ts'

export type { ChangeKey, ChangePageFilter } from './change-lists.ts'

/*
 * The history a page at a time. Six lists are merged: the versions that began, the versions that ended, and the first readings,
 * of rules and of servers. Each is read backwards along its index of time, so a page costs what it holds, however long the history is.
 *
 * A condition that few events meet could make one page read everything. So a page examines a bounded number of versions of
 * each list. If they are not enough, it ends early, and the next page goes on there.
 */

/** A page examines so many versions of each list, in about a tenth of a second. */
const MAX_EXAMINED = 10_000

/** An event with its place in the list. */
export type PagedChange = ChangeRow & { readonly key: ChangeKey }

export type ChangePage = {
  readonly changes: readonly PagedChange[]
  /** After which the next page goes on; null: this is the last one. */
  readonly next: ChangeKey | null
  /** Set if the page ended early: what happened before this was not examined yet. */
  readonly examinedTo: Date | null
}

/** Returns at most `rows` events that match `filter`, the newest first, after a place in the list. */
export async function loadChangePage(
  pool: Pool,
  filter: ChangePageFilter,
  after: ChangeKey | null,
  rows: number,
  maxExamined = MAX_EXAMINED,
): Promise<ChangePage> {
  const params: unknown[] = [rows + 1]
  const lists = listsOf(filter)
  if (lists.length === 0) return { changes: [], next: null, examinedTo: null }
  const ctes = lists.map(list =>
    ctesOf(list, filter, after, maxExamined, (value, type) => `$${params.push(value)}::${type}`),
  )
  const { rows: found } = await pool.query<PageRow>(pageSql(lists, ctes), params)
  const events = found.filter(row => !row.isEnd)
  const changes = events.slice(0, rows).map(({ isEnd: _, ...change }) => change)
  if (events.length > rows) return { changes, next: events[rows - 1]?.key ?? null, examinedTo: null }
  const end = found.find(row => row.isEnd)
  return { changes, next: end?.key ?? null, examinedTo: end?.at ?? null }
}

type PageRow = PagedChange & { readonly isEnd: boolean }

/** Ids of rules are numbers. The end of a list stands after its last event. */
const ORDER = 'e.at desc, e.resource, e.account, e.rule_id, e.id collate "C", e.is_end'

/** Merges the lists up to the first end of one of them, then looks up the contents of the events. */
function pageSql(lists: readonly ChangeList[], ctes: readonly string[]): string {
  const parts = lists.flatMap(list => {
    const columns =
      list.resource === 'alert-rules'
        ? `${list.edge === 'read' ? "''" : 'id::text'} as id, id as rule_id`
        : 'server_id as id, null::numeric as rule_id'
    const part = (from: string, isEnd: boolean) =>
      `select '${list.resource}' as resource, account, ${columns}, at, ${isEnd} as is_end from ${from}`
    return [part(nameOf(list), false), part(`${nameOf(list)}_end`, true)]
  })
  return `
    with ${ctes.join(',')},
    merged as (
      select e.*, sum(e.is_end::int) over (order by ${ORDER} rows unbounded preceding) - e.is_end::int as ends_before
      from (${parts.join(' union all ')}) e
    ),
    page as (select * from merged e where e.ends_before = 0 order by ${ORDER} limit $1::int)
    select e.resource, e.account, e.id, c.name, c.change, e.at, c.run, c.by, c.before, c.after, c.rows, e.is_end as "isEnd",
      jsonb_build_array(${keyInstant('e.at')}, e.resource, e.account, e.id) as key
    from page e left join lateral (${contentsOf('e', { cut: true })}) c on not e.is_end
    order by ${ORDER}`
}
