import { expect } from 'vitest'
import type { ConsoleHarness } from '../console-harness.ts'
import { VALUES } from './fill.ts'
import {
  type Asked,
  type Facts,
  FORMS,
  type Listed,
  MAX_LATER_MS,
  plain,
  type Row,
  type Wanted,
} from './listed.ts'
import { factsIn, headingIn, rowsUnder } from './reading.ts'

type Query = Readonly<Record<string, string>>

type Queried = Pick<ConsoleHarness, 'query'>

/** The declaration with values in the places that stand for them. */
export async function filledIn<Of extends Pick<Asked, 'at' | 'sql'>>(
  harness: Queried,
  asked: Of,
): Promise<Of> {
  let { at, sql } = asked
  for (const [place = '', name = ''] of `${at} ${sql}`.matchAll(/\{(\w+)\}/g)) {
    if (!VALUES[name]) continue
    const { sql: expression } = await filledIn(harness, { at: '', sql: VALUES[name] })
    const value = await valueIn(harness, `select ${expression}`)
    at = at.replaceAll(place, encodeURIComponent(value))
    sql = sql.replaceAll(place, value)
  }
  return { ...asked, at, sql }
}

/** One value of SQL as text: an instant as an address has it, to the millisecond. There must be one. */
export async function valueIn(harness: Queried, sql: string): Promise<string> {
  const [row = {}] = await harness.query<Row>(sql)
  const [value] = Object.values(row)
  if (value === null || value === undefined) throw new Error(`no value: ${sql}`)
  return value instanceof Date ? value.toISOString() : `${value}`
}

/** The rows that a list must have, in their order or another: those that match a condition. */
export async function rowsOf(
  harness: Queried,
  { sql, more }: Pick<Listed, 'sql' | 'more'>,
  {
    condition = 'true',
    order = 'nth_of_all',
    params = [],
  }: { condition?: string; order?: string; params?: unknown[] } = {},
): Promise<Row[]> {
  const rows = await harness.query<Row>(
    `select * from (select *, row_number() over () as nth_of_all from (${sql}) r) r where ${condition} order by ${order}`,
    params,
  )
  return rows.map(row => ({ ...row, ...more?.(row) }))
}

/** Compares the cells of the first page with these rows. Returns the cells. */
export async function expectRows(
  harness: ConsoleHarness,
  listed: Listed,
  rows: readonly Row[],
  query: Query = {},
) {
  const { text, asked } = await ask(harness, listed, query)
  const found = rowsUnder(text, listed.at.split(' | ')[1] ?? '')
  const wanted = rows.slice(0, listed.rows ?? 50).map((row, n) => readingsOf(listed, row, asked, found[n]))
  expect(found, `${listed.at} ${JSON.stringify(query)}`).toEqual(wanted)
  return found
}

/** Compares the facts of a page, and its heading. */
export async function expectFacts(harness: ConsoleHarness, declared: Facts) {
  const [row, ...others] = await rowsOf(harness, declared)
  if (!row || others.length > 0) throw new Error(`not one row: ${declared.sql}`)
  const { text, asked } = await ask(harness, declared, {})
  const found = factsIn(text)
  expect(found, declared.at).toEqual(readingsOf(declared, row, asked, found))
  expect(headingIn(text)).toBe(declared.heading(row))
}

/** The address without the caption. */
export const pathOf = (at: string) => at.split(' | ')[0] ?? ''

async function ask(harness: ConsoleHarness, { at }: Asked, query: Query) {
  const { pathname, searchParams } = new URL(pathOf(at), harness.http.address)
  for (const [name, value] of Object.entries(query)) searchParams.set(name, value)
  const { status, text } = await harness.page(`${pathname}?${searchParams}`)
  expect(status, `${at} ${JSON.stringify(query)}`).toBe(200)
  return { text, asked: Object.fromEntries(searchParams) }
}

/** What the cells of a row must be. If one may be one of several texts, the one that is there. */
function readingsOf({ shows, cells = {} }: Asked, row: Row, query: Query, found: Row = {}): Row {
  const readings = shows.split(/,\s+(?=[A-Z\d])/).map(head => {
    const [, name = '', column = name.toLowerCase(), form = ''] =
      /^(.*?)(?:=(.*?))?(?::(.*))?$/.exec(head) ?? []
    if (!cells[name] && !FORMS[form] && !(column in row)) throw new Error(`nothing says what ${name} shows`)
    const value = row[column]
    return [
      name,
      oneOf(cells[name] ? cells[name](row, query) : (FORMS[form]?.(value, row) ?? plain(value)), found[name]),
    ]
  })
  return Object.fromEntries(readings)
}

function oneOf(cell: Wanted, found = ''): Wanted {
  if (cell instanceof RegExp) return cell.test(found) ? found : cell
  return typeof cell !== 'object' ? cell : cell.includes(found) ? found : (cell[0] ?? '')
}

/** A value as CSV has it: an instant in ISO 8601, a duration in seconds. `found` stands there: a duration may have grown. */
export function inCsv(value: unknown, found = ''): string {
  if (value === null) return ''
  if (value instanceof Date) return value.toISOString()
  if (typeof value !== 'object') return `${value}`
  const { ms = 0, growing, any } = value as { ms?: number; growing?: number; any?: true }
  if (any) return found
  if (growing === undefined) return `${ms / 1_000}`
  const grown = Number(found) * 1_000 - growing
  return grown > -1 && grown < MAX_LATER_MS ? found : `${growing / 1_000}`
}
