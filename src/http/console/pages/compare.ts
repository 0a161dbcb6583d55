import { z } from 'zod'
import {
  type DifferencePage,
  type FirstRead,
  loadDifferencePage,
  loadFirstRead,
  type Moments,
  type PagedDifference,
} from '#src/inventory/history/compare-page.ts'
import { listFirstReadings, loadHistoryStart } from '#src/inventory/history/history-start.ts'
import { loadSnapshotPage, type PagedSnapshot } from '#src/inventory/history/snapshot-page.ts'
import { DIFFERENCE_KINDS } from '#src/inventory/history/two-moments.ts'
import { number } from '#src/model/counted.ts'
import { DAY_MS } from '#src/model/duration.ts'
import { PLURALS, RESOURCES, type Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { BadQuery, href, type Page, type PageRequest, parsedQuery } from '../page.ts'
import { changeBadge, firstReadEntry, inventoryLink, pathOf } from '../parts/changes.ts'
import { compareForms } from '../parts/compare-forms.ts'
import { differencesList, openRoom } from '../parts/differences.ts'
import {
  futureNotice,
  isUnread,
  momentIn,
  momentInWords,
  type Pair,
  resolveMoment,
  unreadNotice,
} from '../parts/moments.ts'
import { CursorText, PAGE_ROWS, pager, readCursor, writeCursor } from '../parts/paging.ts'
import { type Column, table } from '../parts/table.ts'
import { tabs } from '../parts/tabs.ts'
import { capital, foreign } from '../parts/values.ts'

const PATH = '/changes/compare'

/** The most nights to choose from; the page of all snapshots leads to the others. */
const MAX_CHOICES = 90

const MAX_FIELDS = 8

const askedIn = (zone: string) =>
  z.object({
    from: momentIn(zone).optional(),
    to: momentIn(zone).optional(),
    account: z.string().max(200).optional(),
    resource: z.enum(RESOURCES).default('alert-rules'),
    kind: z.enum(DIFFERENCE_KINDS).optional(),
  })

type Asked = z.output<ReturnType<typeof askedIn>>

/** What differs between any two moments: of a rule or server that changed back there is nothing. */
export const compare: Page = {
  path: PATH,
  section: 'changes',
  access: 'read',
  async render(request) {
    const { query, reader, target } = request
    const { timezone } = target
    const asked = parsedQuery(query, askedIn(timezone))
    const nights = await loadSnapshotPage(reader, {}, null, MAX_CHOICES)
    const forms = compareForms({ query, nights, accounts: target.accounts, timezone })
    if (!asked.from && !asked.to) {
      return {
        title: 'Compare two moments',
        body: html`${lastNights(nights)}${forms}<p>Choose two nights or two moments to see what differs.</p>`,
      }
    }
    const pair = await resolvePair(request, asked)
    return (
      pair && { title: 'Compare two moments', body: html`${forms}${await comparison(request, asked, pair)}` }
    )
  },
}

/** The most accounts whose last nights are offered. */
const MAX_OFFERED = 10

/** What people mostly want to know: what the last night changed. */
function lastNights(nights: readonly PagedSnapshot[]): Html | null {
  const ofSchedule = nights.filter(({ slot }) => slot !== null)
  const offered = [...Map.groupBy(ofSchedule, ({ account }) => account)]
    .flatMap(([account, [last, before]]) => (last && before ? { account, last, before } : []))
    .slice(0, MAX_OFFERED)
  if (offered.length === 0) return null
  return html`<p class="buttons">${offered.map(
    ({ account, last, before }) =>
      html`<a class="button" href="${href(PATH, { from: before.id, to: last.id })}">Last night against the night before${offered.length > 1 ? html`, <bdi>${account}</bdi>` : null}</a>`,
  )}</p>`
}

/** Without an end it is now, without a beginning a day before the end. Null: there is no such snapshot. */
async function resolvePair({ reader }: PageRequest, asked: Asked): Promise<Pair | null> {
  const to = await resolveMoment(reader, asked.to ?? { at: new Date() })
  if (!to) return null
  const from = await resolveMoment(reader, asked.from ?? { at: new Date(Date.parse(to.at) - DAY_MS) })
  if (!from) return null
  if (from.account !== null && to.account !== null && from.account !== to.account) {
    throw new BadQuery('The address is wrong: from, to: the two snapshots belong to different accounts.')
  }
  if (Date.parse(from.at) > Date.parse(to.at)) {
    throw new BadQuery(
      `The address is wrong: from: it is later than ${asked.to ? 'to. Swap the two.' : 'now, and no other end is given.'}`,
    )
  }
  return { from, to }
}

async function comparison(
  { query, reader, target: { timezone } }: PageRequest,
  asked: Asked,
  pair: Pair,
): Promise<Html> {
  const { from, to } = pair
  const { resource, kind } = asked
  const account = from.account ?? to.account ?? asked.account
  const moments = { from: from.at, to: to.at, account, kind }
  const after = readCursor(query, cursorOf(resource))
  const [page, other, startsAt, readings, firstRead] = await Promise.all([
    loadDifferencePage(reader, resource, moments, {
      after: after && { id: after[0], account: after[1] },
      rows: PAGE_ROWS,
    }),
    loadDifferencePage(reader, otherThan(resource), moments, { after: null, rows: 0 }),
    loadHistoryStart(reader),
    listFirstReadings(reader, resource, account ?? null),
    kind === undefined && !after ? loadFirstRead(reader, resource, moments) : null,
  ])
  const entries: readonly Entry[] = [...(firstRead ? [firstRead] : []), ...page.differences]
  const now = new Date()
  const isKnown = Date.parse(from.at) <= now.getTime() && !isUnread(readings, pair)
  const { next } = page
  const isIncomplete = startsAt !== null && startsAt.getTime() > Date.parse(from.at)
  return html`<p>From ${momentInWords(from, timezone)} to ${momentInWords(to, timezone)}, ${account === undefined ? 'all accounts' : html`account <bdi>${account}</bdi>`}.</p>
${isIncomplete ? html`<p class="notice warn">The history starts at ${momentInWords({ at: startsAt.toISOString(), snapshot: null, account: null }, timezone)}. Older versions were removed, so what existed before is shown as added.</p>` : null}
${unreadNotice(readings, pair, timezone)}
${futureNotice(pair, now, timezone)}
${inventoryTabs(query, resource, { [resource]: page.counts, [otherThan(resource)]: other.counts })}
${kindTabs(query, kind)}
${table('What differs, by id', columns(resource, query), entries, isKnown ? emptyOf(page, moments) : html`Nothing is known about these moments.`)}
${pager(PATH, query, next && writeCursor([next.id, next.account]))}`
}

function cursorOf(resource: Resource) {
  return z.tuple([resource === 'alert-rules' ? z.string().regex(/^\d{1,20}$/) : CursorText, CursorText])
}

function otherThan(resource: Resource): Resource {
  return resource === 'alert-rules' ? 'mcp-servers' : 'alert-rules'
}

type Counts = Readonly<Partial<Record<Resource, DifferencePage['counts']>>>

function inventoryTabs(query: URLSearchParams, here: Resource, counts: Counts): Html {
  return tabs(
    'Inventories',
    RESOURCES.map(resource => ({
      to: changed(query, { resource }),
      words: capital(PLURALS[resource]),
      isHere: resource === here,
      beside: html` <small>${countsInWords(counts[resource] ?? null)}</small>`,
    })),
  )
}

function countsInWords(counts: DifferencePage['counts']): string {
  if (!counts) return 'many changes'
  const words = DIFFERENCE_KINDS.filter(kind => counts[kind] > 0).map(kind =>
    kind === 'first reading' ? `${kind} of ${number(counts[kind])}` : `${number(counts[kind])} ${kind}`,
  )
  return words.length > 0 ? words.join(', ') : 'no difference'
}

function kindTabs(query: URLSearchParams, here: Asked['kind']): Html {
  return tabs(
    'Differences',
    [undefined, ...DIFFERENCE_KINDS].map(kind => ({
      to: changed(query, { kind }),
      words: kind ?? 'all',
      isHere: kind === here,
    })),
  )
}

/** This comparison with something else chosen, from its first page. */
function changed(query: URLSearchParams, more: Readonly<Record<string, string | undefined>>): string {
  const { after: _, ...kept } = Object.fromEntries(query)
  return href(PATH, { ...kept, ...more })
}

/** A row that differs, or all that first readings found. */
type Entry = PagedDifference | FirstRead

function columns(resource: Resource, query: URLSearchParams): Column<Entry>[] {
  const room = openRoom()
  return [
    { head: 'Change', cell: row => changeBadge('rows' in row ? 'first reading' : row.change) },
    {
      head: 'About',
      cell: row =>
        'rows' in row
          ? firstReadEntry(resource, row, changed(query, { kind: 'first reading' }))
          : inventoryLink(row),
    },
    {
      head: resource === 'alert-rules' ? 'Folder' : 'Team',
      cell: row => ('rows' in row ? null : foreign(row.folder)),
    },
    {
      head: 'Old to new',
      cell: row =>
        'rows' in row
          ? null
          : differencesList(row, MAX_FIELDS, room, pathOf(row.resource, row.account, row.id)),
    },
    ...(resource === 'alert-rules'
      ? [
          {
            head: 'Last edited by',
            cell: (row: Entry) =>
              'rows' in row || row.by === null ? null : html`<span class="person">${foreign(row.by)}</span>`,
          },
        ]
      : []),
  ]
}

function emptyOf({ next }: DifferencePage, { kind }: Moments): Html {
  if (next) return html`No match among the rows scanned so far. The next page continues.`
  if (kind === 'first reading') return html`No first reading.`
  return kind ? html`Nothing was ${kind}.` : html`Nothing differs between the two moments.`
}
