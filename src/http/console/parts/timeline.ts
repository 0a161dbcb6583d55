import type { Pool } from 'pg'
import { z } from 'zod'
import { partOf } from '#src/db/list.ts'
import { loadChangePage, type PagedChange } from '#src/inventory/history/changes.ts'
import { loadFiringPage, type PagedFiring } from '#src/inventory/history/firing-page.ts'
import type { Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { changeBadge } from './changes.ts'
import { differencesList, openRoom } from './differences.ts'
import { CursorInstant, PAGE_ROWS, writeCursor } from './paging.ts'
import { runLink } from './runs.ts'
import { type Column, table } from './table.ts'
import { ago, badge, foreign, lasted, time } from './values.ts'

/** What happened to one rule or server: it changed, or it fired. */
export type Moment = (PagedChange & { readonly what: 'change' }) | (PagedFiring & { readonly what: 'firing' })

export type Timeline = { readonly moments: readonly Moment[]; readonly next: string | null }

/** A place in the time line: an instant, and whether the firing that began then is still to come. */
export const TimelineCursor = z.tuple([CursorInstant, z.enum(['change', 'firing'])])

/** Changes and firings of one rule or server as one list, the newest first. Of one instant, the change comes first. */
export async function loadTimeline(
  pool: Pool,
  { resource, account, id }: { readonly resource: Resource; readonly account: string; readonly id: string },
  after: z.output<typeof TimelineCursor> | null,
  rows = PAGE_ROWS,
): Promise<Timeline> {
  const isRule = resource === 'alert-rules'
  const filter = { account, ...(isRule ? { rule: BigInt(id) } : { server: id }) }
  const [changes, firings] = await Promise.all([
    loadChangePage(pool, filter, after && [after[0], resource, account, id], rows + 1),
    isRule
      ? loadFiringPage(
          pool,
          { account, id },
          after && { at: after[0], isIncluded: after[1] === 'change' },
          rows + 1,
        )
      : [],
  ])
  const moments: Moment[] = [
    ...changes.changes.map(change => ({ ...change, what: 'change' as const })),
    ...firings.map(firing => ({ ...firing, what: 'firing' as const })),
  ].sort((a, b) => (keyOf(a) < keyOf(b) ? 1 : keyOf(a) > keyOf(b) ? -1 : a.what < b.what ? -1 : 1))
  const { rows: page, next } = partOf(moments, rows, moment => [keyOf(moment), moment.what])
  return { moments: page, next: next && writeCursor(next) }
}

function keyOf(moment: Moment): string {
  return moment.what === 'change' ? moment.key[0] : moment.key
}

/** The most fields shown of a change: all of a rule's, and all of a server's unless many of its tools changed at once. */
const MAX_FIELDS = 40

export function timelineTable({ moments }: Timeline, timezone: string): Html {
  const room = openRoom()
  const columns: Column<Moment>[] = [
    { head: 'When', cell: moment => ago(moment.what === 'change' ? moment.at : moment.began, timezone) },
    {
      head: 'What',
      cell: moment =>
        moment.what === 'change'
          ? changeBadge(moment.change)
          : badge(moment.ended ? 'quiet' : 'bad', moment.ended ? 'fired' : 'firing'),
    },
    {
      head: 'Old to new',
      cell: moment =>
        moment.what === 'change'
          ? differencesList(moment, MAX_FIELDS, room)
          : firingInWords(moment, timezone),
    },
    {
      head: 'By',
      cell: moment =>
        moment.what === 'change'
          ? html`<span class="person">${moment.by === null ? null : html`${foreign(moment.by)}<br>`}<small>${runLink(moment.run, `run ${moment.run}`)}</small></span>`
          : null,
    },
  ]
  return table('Newest first', columns, moments, html`No changes recorded.`)
}

function firingInWords({ began, ended }: PagedFiring, timezone: string): Html {
  if (!ended) return html`since then`
  return html`for ${lasted(began, ended)}, until ${time(ended, timezone)}`
}
