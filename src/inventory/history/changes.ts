import type { Pool } from 'pg'
import { z } from 'zod'
import { findAll, keyInstant, rowsOf } from '#src/db/rows.ts'
import { readCount, streamRows } from '#src/db/stream-rows.ts'
import { ChangeKey, type ChangePageFilter, eventsOf, ORDER } from './change-lists.ts'
import { type ChangeFilter, ChangeRow, contentsOf } from './change-row.ts'

export type { ChangeKey, ChangePageFilter } from './change-lists.ts'
export type { ChangeRow } from './change-row.ts'

/*
 * The history, whole or a page at a time. Six lists are merged: the versions that began, the versions that ended, and the first
 * readings, of rules and of servers. Each is read backwards along its index of time, so a page costs what it holds, however long
 * the history is.
 *
 * A condition that few events meet could make one page read everything. So a page examines a bounded number of versions of
 * each list. If they are not enough, it ends early, and the next page goes on there.
 */

/** A page examines at most this many versions of each list, which takes about a tenth of a second. */
const MAX_EXAMINED = 10_000

/** An event with its place in the list. */
const PagedChange = ChangeRow.extend({ key: ChangeKey })
export type PagedChange = Readonly<z.infer<typeof PagedChange>>

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
  const places = eventsOf(filter, after, rows + 1, maxExamined)
  if (!places) return { changes: [], next: null, examinedTo: null }
  const found = await findAll(
    pool,
    PageRow,
    `with ${places.sql}
     select ${COLUMNS}, e.is_end, jsonb_build_array(${keyInstant('e.at')}, e.resource, e.account, e.id) as key
     from page e left join lateral (${contentsOf('e', { cut: true })}) c on not e.is_end
     order by ${ORDER}`,
    [...places.params],
  )
  const events = found.filter(row => !row.isEnd)
  const changes = events.slice(0, rows).map(({ isEnd: _, ...change }) => change)
  if (events.length > rows) return { changes, next: events[rows - 1]?.key ?? null, examinedTo: null }
  const end = found.find(row => row.isEnd)
  return { changes, next: end?.key ?? null, examinedTo: end?.at ?? null }
}

const PageRow = z.discriminatedUnion('isEnd', [
  PagedChange.extend({ isEnd: z.literal(false) }),
  z.object({ isEnd: z.literal(true), key: ChangeKey, at: z.date() }),
])

/** The columns of a `ChangeRow`, of an event `e` with its contents `c`. */
const COLUMNS = `e.resource, e.account, e.id, c.name, c.change, e.at, c.run, c.by, c.before, c.after, c.rows`

/** Yields the events that match `filter`, the newest first, at most `limit`; those of one instant by name. */
export async function* listChanges(
  pool: Pool,
  filter: ChangeFilter,
  limit: number | null,
): AsyncGenerator<ChangeRow> {
  const events = eventsOf(filter, null, limit ?? ALL, null)
  if (!events) return
  yield* streamRows(
    pool,
    page => rowsOf(ChangeRow, page),
    `with ${events.sql}
     select ${COLUMNS} from page e cross join lateral (${contentsOf('e')}) c
     order by e.at desc, e.resource, e.account, c.name, e.id`,
    events.params,
  )
}

/** How many events there are. Stops counting at `atMost`. */
export async function countChanges(pool: Pool, filter: ChangeFilter, atMost: number): Promise<number> {
  const events = eventsOf(filter, null, atMost, null)
  if (!events) return 0
  const sum = `with ${events.sql} select count(*)::int from page`
  return readCount(pool, sum, events.params)
}

/** More rows than a history has, as an int. */
const ALL = 2_147_483_647
