import type { Pool } from 'pg'
import { z } from 'zod'
import { CHANGE_LIST } from '#src/inventory/history/changes-list.ts'
import { isAnythingRead } from '#src/inventory/history/history-start.ts'
import { suggest } from '#src/inventory/history/known-words.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { asksForAll, narrowed } from '../page.ts'
import { changeBadge, changedLink, pathOf, personLink } from '../parts/changes.ts'
import { differencesList, openRoom } from '../parts/differences.ts'
import { historyNote } from '../parts/history-note.ts'
import { latenessNote } from '../parts/lateness-note.ts'
import { listPage } from '../parts/list-page.ts'
import { CursorInstant, CursorText } from '../parts/paging.ts'
import { observed } from '../parts/runs.ts'
import { time } from '../parts/values.ts'

const PATH = '/changes'

/** A change shows at most this many fields here; the page of the rule or server shows more. */
const MAX_FIELDS = 8

const Place = z.union([
  z.tuple([CursorInstant, z.literal('alert-rules'), CursorText, z.string().regex(/^\d{0,20}$/)]),
  z.tuple([CursorInstant, z.literal('mcp-servers'), CursorText, CursorText]),
])

export const changes = listPage({
  path: PATH,
  section: 'changes',
  title: 'Changes',
  list: () => CHANGE_LIST,
  place: Place,
  async beside(request, { rows, next, examinedTo, filter }) {
    const { query, reader, target } = request
    const { timezone } = target
    const room = openRoom()
    return {
      above: html`<p><a href="/changes/compare">Compare two moments or nights</a> · <a href="/changes/editors">Who edits most</a></p>
${filter.until ? null : await latenessNote(request, RESOURCES)}`,
      columns: [
        {
          head: 'Observed',
          cell: row => observed(row, timezone),
        },
        { head: 'Change', cell: row => changeBadge(row.change) },
        { head: 'Rule or server', cell: changedLink },
        {
          head: 'Old to new',
          cell: row => differencesList(row, MAX_FIELDS, room, pathOf(row.resource, row.account, row.id)),
        },
        {
          head: 'By',
          cell: ({ by }) => (by === null ? null : personLink(by, by => narrowed(PATH, query, { by }))),
        },
      ],
      below: html`${examinedTo ? examinedNote(examinedTo, timezone) : null}
${next ? null : await historyNote(reader, filter.since, timezone)}`,
      empty: rows.length === 0 ? await emptyOf(reader, examinedTo, query) : null,
      suggest: () => suggest(reader, 'alert-rules', { by: filter.by }),
    }
  },
})

async function emptyOf(reader: Pool, examinedTo: Date | null, query: URLSearchParams): Promise<Html | null> {
  if (examinedTo) return html`Nothing found so far. The next page looks further back.`
  if (asksForAll(query)) return (await isAnythingRead(reader)) ? html`No change is known.` : null
  return html`No change matches. <a href="${PATH}">Show all changes</a>.`
}

function examinedNote(examinedTo: Date, timezone: string): Html {
  return html`<p class="notice">Few changes match, so this page scanned only back to ${time(examinedTo, timezone)}. The next page continues from there. An earlier “until” starts further back.</p>`
}
