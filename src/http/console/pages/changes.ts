import { z } from 'zod'
import { type ChangePage, loadChangePage } from '#src/inventory/change-page.ts'
import { CHANGE_KINDS, type ChangeRow } from '#src/inventory/changes.ts'
import { loadHistoryStart } from '#src/inventory/history-start.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { asksForAll, href, type Page } from '../page.ts'
import { accountFilter, choicesOf } from '../parts/account-filter.ts'
import { changeBadge, changedLink, MAX_PERSON, nothingAltered, pathOf } from '../parts/changes.ts'
import { differencesList, openRoom } from '../parts/differences.ts'
import { type Filter, filters, sinceAndUntil } from '../parts/filters.ts'
import { parsedSpan, zoneOf } from '../parts/instants.ts'
import { CursorInstant, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { runLink } from '../parts/runs.ts'
import { type Column, table } from '../parts/table.ts'
import { foreign, time } from '../parts/values.ts'
import { compare } from './compare.ts'
import { rule } from './rule.ts'
import { server } from './server.ts'

const PATH = '/changes'

/** A change shows so many fields here; the page of the rule or server shows more. */
const MAX_FIELDS = 8

const uint64 = z
  .string()
  .regex(/^\d{1,20}$/, 'write the number of a folder')
  .transform(BigInt)

const Asked = z.object({
  account: z.string().max(200).optional(),
  resource: z.enum(RESOURCES).optional(),
  folder: uint64.optional(),
  by: z.string().max(MAX_PERSON).optional(),
  kind: z.enum(CHANGE_KINDS).optional(),
})

const text = z
  .string()
  .max(3_000)
  .regex(/^[^\0]*$/)
const Cursor = z.union([
  z.tuple([CursorInstant, z.literal('alert-rules'), text, z.string().regex(/^\d{0,20}$/)]),
  z.tuple([CursorInstant, z.literal('mcp-servers'), text, text]),
])

/** Who changed what, the newest first. */
const changes: Page = {
  path: PATH,
  section: 'changes',
  access: 'read',
  async render({ query, reader, target: { timezone, accounts } }) {
    const zone = zoneOf(query, timezone)
    const filter = parsedSpan(query, zone, Asked)
    const page = await loadChangePage(reader, filter, readCursor(query, Cursor), PAGE_ROWS)
    const { next } = page
    return {
      title: 'Changes',
      body: html`<p><a href="/changes/compare">Compare two moments or nights</a></p>
${filters(PATH, query, filtersIn(zone, accounts, query))}
${table('What changed, the newest first', columnsIn(timezone, query), page.changes, emptyOf(page, query))}
${examinedNote(page, timezone)}
${next ? null : historyNote(await loadHistoryStart(reader), filter.since, timezone)}
${pager(PATH, query, next && writeCursor(next))}`,
    }
  },
}

function filtersIn(zone: string, accounts: readonly string[], query: URLSearchParams): Filter[] {
  return [
    accountFilter(accounts, query),
    {
      name: 'resource',
      label: 'Inventory',
      kind: 'choice',
      choices: { 'alert-rules': 'alert rules', 'mcp-servers': 'MCP servers' },
      any: 'both',
    },
    { name: 'kind', label: 'Change', kind: 'choice', choices: choicesOf(CHANGE_KINDS) },
    { name: 'folder', label: 'Folder (of rules)', kind: 'text', hint: 'its number' },
    { name: 'by', label: 'Person (of rules)', kind: 'text', hint: 'the whole name' },
    ...sinceAndUntil(zone),
  ]
}

function columnsIn(timezone: string, query: URLSearchParams): Column<ChangeRow>[] {
  const room = openRoom()
  return [
    {
      head: 'Observed',
      cell: row =>
        html`<span>${time(row.at, timezone)}<br><small>${runLink(row.run, `run ${row.run}`)}</small></span>`,
    },
    { head: 'Change', cell: row => changeBadge(row.change) },
    { head: 'Of', cell: changedLink },
    {
      head: 'Old to new',
      cell: row =>
        differencesList(row, MAX_FIELDS, room, pathOf(row.resource, row.account, row.id)) ??
        nothingAltered(row.change),
    },
    {
      head: 'By',
      cell: ({ by }) =>
        by === null
          ? null
          : by.length > MAX_PERSON
            ? foreign(by)
            : html`<a class="person" href="${narrowed(query, { by })}">${foreign(by)}</a>`,
    },
  ]
}

/** This list, narrowed further, from its first page. */
function narrowed(query: URLSearchParams, more: Readonly<Record<string, string>>): string {
  const { after: _, ...kept } = Object.fromEntries(query)
  return href(PATH, { ...kept, ...more })
}

function emptyOf({ examinedTo }: ChangePage, query: URLSearchParams): Html {
  if (examinedTo) return html`Nothing found so far. The next page looks further back.`
  if (!asksForAll(query)) return html`Nothing that changed matches. <a href="${PATH}">Show all changes</a>.`
  return html`Nothing was read yet. <code>ferry sync all</code> reads both inventories now.`
}

/** At the end of the list. */
function historyNote(start: Date | null, since: Date | undefined, timezone: string): Html | null {
  if (start === null || (since && since >= start)) return null
  return html`<p class="notice">The history starts at ${time(start, timezone)}. What ended before was removed, as <code>FERRY_KEEP_VERSIONS</code> says.</p>`
}

function examinedNote({ examinedTo }: ChangePage, timezone: string): Html | null {
  if (!examinedTo) return null
  return html`<p class="notice">Few changes match, so this page looked only as far back as ${time(examinedTo, timezone)}. The next page goes on from there. An earlier “until” begins further back.</p>`
}

export const CHANGES_PAGES: readonly Page[] = [changes, compare, rule, server]
