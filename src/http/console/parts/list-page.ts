import { z } from 'zod'
import {
  type Asked,
  type Cell,
  type Columns,
  type Filter,
  type Filters,
  isLasting,
  isNarrowedBy,
  type List,
  type Order,
  type OrderKind,
  type Part,
  type PlaceOf,
} from '#src/db/list.ts'
import type { Suggestion } from '#src/inventory/history/known-words.ts'
import { number } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { RESOURCES } from '#src/model/resource.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import { type Html, type HtmlValue, html } from '../html.ts'
import { BadQuery, href, idIn, type Page, type PageRequest, parsedQuery, type View } from '../page.ts'
import { csvOf } from './csv.ts'
import { accountFilter, choicesOf, type Filter as Field, filters } from './filters.ts'
import { instantIn } from './instants.ts'
import { CursorId, CursorInstant, CursorText, PAGE_ROWS, pager, readCursor, writeCursor } from './paging.ts'
import { type Column, table } from './table.ts'
import { ago, capital, foreign, sentence } from './values.ts'

/** What was asked for, and the rows that were found. */
export type Found<Row, Of extends Filters, By extends Order> = Part<Row, PlaceOf<By>> & {
  readonly filter: Asked<Of>
  /** Whether rows were left out: by a filter, or on earlier pages. */
  readonly isNarrowed: boolean
}

/** What a page has beside the list. */
export type Beside<Row, Of extends Filters, Name extends string> = Pick<View, 'refreshEveryMs'> & {
  /** A column of the list by its name, or one that only the page has. */
  readonly columns: readonly (Name | Column<Row>)[]
  readonly above?: HtmlValue
  /** Between the filters and the table. */
  readonly between?: HtmlValue
  /** Between the table and the links to other pages. */
  readonly below?: HtmlValue
  /** Instead of the words of the list, where they need a link or say more. */
  readonly empty?: Html | null
  /** What may have been meant, where nothing was found. */
  suggest?(): Promise<readonly Suggestion[]>
  /** The accounts to choose from; absent: those that are configured. */
  readonly accounts?: readonly string[]
  /** The fields of the form; absent: every filter that has a label. */
  readonly fields?: readonly (keyof Of & string)[]
}

type ListPage<Row, Of extends Filters, By extends Order, Name extends string, More> = Pick<
  Page,
  'path' | 'section'
> & {
  readonly title: string
  /** The places there are in the list, if its order alone does not say that. */
  readonly place?: z.ZodType<PlaceOf<By>>
  /** Rows of a page, if it is not the usual number. */
  readonly rows?: number
  /** The list, which may depend on the settings. */
  list(request: PageRequest): List<Row, Of, By, Name, More>
  beside(
    request: PageRequest,
    found: Found<Row, Of, By> & More,
  ): Beside<Row, Of, Name> | Promise<Beside<Row, Of, Name>>
}

/** Returns the page of a list: its filters as a form, its rows as a table, and the way to the next rows. Of the rows as CSV too. */
export function listPage<Row, Of extends Filters, By extends Order, Name extends string, More>(
  page: ListPage<Row, Of, By, Name, More>,
): Page {
  const { path, section, title, rows: limit = PAGE_ROWS } = page
  return {
    path,
    section,
    access: 'read',
    async render(request) {
      const { query, reader, target } = request
      const list = page.list(request)
      const filter = filterIn(query, list.filters, target.timezone)
      const after = readCursor(query, page.place ?? placeIn(list.order))
      const found = await list.load(reader, { filter, after, limit })
      const { rows, next } = found
      const isNarrowed = after !== null || isNarrowedBy(filter)
      const beside = await page.beside(request, { ...found, filter, isNarrowed })
      const { above, between, below, empty, accounts = target.accounts, refreshEveryMs } = beside
      const suggested = rows.length === 0 && after === null ? ((await beside.suggest?.()) ?? []) : []
      const shown = Object.entries<Filter>(list.filters).filter(
        ([name]) => beside.fields?.includes(name) ?? true,
      )
      const account = accountFilter(accounts, query)
      const fields = shown.map(([name, one]) => fieldOf(name, one, account, request))
      return {
        title,
        ...(refreshEveryMs && { refreshEveryMs }),
        body: html`${above}
${filters(path, query, (await Promise.all(fields)).flat())}
${between}
${futureNote(filter)}
${suggestions(suggested)}
${table(list.caption, columnsOf(list, beside.columns, rows, target.timezone), rows, empty ?? noneOf(list, path, isNarrowed))}
${below}
${pager(path, query, next && writeCursor(next))}
${rows.length > 0 ? csvLink(path, query) : null}`,
      }
    },
    csv(request) {
      const { query, reader, target } = request
      const list = page.list(request)
      const filter = filterIn(query, list.filters, target.timezone)
      const load = (after: PlaceOf<By> | null) =>
        list.load(reader, { filter, after, limit: CSV_PAGES * limit })
      return csvOf(list.columns, load, target.signal)
    },
  }
}

/** CSV is read in parts of this many pages: a row may have long texts. */
const CSV_PAGES = 4

/** What stands in place of rows: where the list is narrowed, with a link to all of it. */
function noneOf(
  { none, noneMatches }: { none: string; noneMatches?: string },
  path: string,
  isNarrowed: boolean,
): Html {
  if (!isNarrowed || noneMatches === undefined) return sentence(none)
  return html`${sentence(noneMatches)} <a href="${path}">Show all</a>`
}

/** What may have been meant, where nothing was found. */
export function suggestions(suggested: readonly Suggestion[]): Html[] {
  return suggested.map(
    ({ truth, asked, meant }) =>
      html`<p class="notice">${capital(truth)} ${foreign(asked)}; did you mean ${foreign(meant)}?</p>`,
  )
}

/** Says so if the list begins at a moment that is still to come. */
function futureNote({ since }: Readonly<Record<string, unknown>>): Html | null {
  if (!(since instanceof Date) || since.getTime() <= Date.now()) return null
  return html`<p class="notice warn">“Since” is in the future: nothing has begun or changed since then.</p>`
}

function csvLink(path: string, query: URLSearchParams): Html {
  const { after: _, ...kept } = Object.fromEntries(query)
  return html`<p><a href="${href(`${path}.csv`, kept)}" download>All rows as CSV</a></p>`
}

/** Parses what the query asks for. Throws `BadQuery`, also if `since` is later than `until`. */
export function filterIn<Of extends Filters>(query: URLSearchParams, of: Of, zone: string): Asked<Of> {
  const shape = Object.entries(of).map(([name, filter]) => [name, valueIn(filter, zone).optional()])
  const asked: Record<string, unknown> = parsedQuery(query, z.object(Object.fromEntries(shape)))
  const { since, until } = asked
  if (since instanceof Date && until instanceof Date && since > until) {
    throw new BadQuery('The address is wrong: since: it is later than until. Swap the two.')
  }
  return asked as Asked<Of>
}

function valueIn(filter: Filter, zone: string): z.ZodType {
  switch (filter.kind) {
    case 'instant':
      return instantIn(zone)
    case 'id':
      return idIn(filter.of, filter.max ?? MAX_UINT64)
    case 'choice':
      return filter.isOpen ? z.string().max(200) : z.enum(filter.values)
    case 'flag':
      return z.enum(['yes', 'no']).transform(text => text === 'yes')
    case 'labels':
      return z
        .string()
        .max(500)
        .refine(text => /^[^=]+=/.test(text), 'write a label and its value: severity=critical')
        .transform(text => ({ [text.slice(0, text.indexOf('='))]: text.slice(text.indexOf('=') + 1) }))
    default:
      return filter.max === undefined ? z.string() : z.string().max(filter.max)
  }
}

/** The field of a filter; none if it has no label. */
async function fieldOf(
  name: string,
  filter: Filter,
  account: Field,
  { reader, target }: PageRequest,
): Promise<Field[]> {
  if (filter.label === undefined) return []
  const { label } = filter
  switch (filter.kind) {
    case 'account':
      return [account]
    case 'instant':
      return [{ name, label, kind: 'datetime-local', zone: target.timezone }]
    case 'choice':
      return [
        { name, label, kind: 'choice', choices: filter.words ?? choicesOf(filter.values), any: filter.any },
      ]
    case 'flag':
      return [{ name, label, kind: 'choice', choices: filter.words }]
    case 'labels':
      return [{ name, label, kind: 'text', hint: filter.hint }]
    default:
      return [{ name, label, kind: 'text', hint: filter.hint, offered: await filter.suggest?.(reader) }]
  }
}

const PLACES: Readonly<Record<OrderKind, z.ZodType>> = {
  id: CursorId,
  number: z.string().regex(/^-?\d{1,20}$/),
  text: CursorText,
  resource: z.enum(RESOURCES),
  instant: CursorInstant,
  'instant or null': CursorInstant.nullable(),
  count: z.int().min(0).max(2_147_483_647),
}

/** A place in a list of this order, as an address has it. */
function placeIn<By extends Order>(order: By): z.ZodType<PlaceOf<By>> {
  const kinds = order.map(kind => PLACES[kind])
  return z.tuple(kinds as [z.ZodType, ...z.ZodType[]]) as z.ZodType as z.ZodType<PlaceOf<By>>
}

/** The columns of the list that are named, and those of the page. */
export function columnsOf<Row, Name extends string>(
  { columns }: { readonly columns: Columns<Row, Name> },
  wanted: readonly (Name | Column<Row>)[],
  rows: readonly Row[],
  timezone: string,
): Column<Row>[] {
  return wanted.map(column => {
    if (typeof column !== 'string') return column
    const cells = new Map(rows.map(row => [row, columns[column](row)]))
    return {
      head: capital(column),
      isNumber: cells.values().some(isNumber),
      cell: row => shown(cells.get(row) ?? null, timezone),
    }
  })
}

function isNumber(cell: Cell): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || isLasting(cell)
}

function shown(cell: Cell, timezone: string): HtmlValue {
  if (cell instanceof Date) return ago(cell, timezone)
  if (isLasting(cell)) return duration(cell.ms)
  if (typeof cell === 'number') return number(cell)
  return typeof cell === 'string' || cell === null ? foreign(cell) : `${cell}`
}
