import { duration } from '#src/model/duration.ts'

/*
 * What a page must show, declared: an address, an SQL query over the tables and views that docs/schema.md describes, and for each
 * column an expression of its row. Expressions write what is read as `readingOf` does.
 */

// biome-ignore lint/suspicious/noExplicitAny: the columns are those of the SQL that stands beside the expression
export type Row = Record<string, any>

/** What may stand in a cell: a text, one of several (what lasts until now grows), or whatever matches; undefined: there is no such cell. */
export type Wanted = string | readonly string[] | RegExp | undefined

export type Cells = Readonly<Record<string, (row: Row, query: Readonly<Record<string, string>>) => Wanted>>

export type Asked = {
  /** The address, and the caption of a table: `/rules | Alert rules`. `{name}` stands for one of `VALUES`, here and in the SQL. */
  readonly at: string
  /** The rows in their order. */
  readonly sql: string
  /** The columns of a table or the names of facts: `Account`, `Error=code` if the column has another name, `Run=id:run` for one of `FORMS`. */
  readonly shows: string
  /** What has an expression of its own. */
  readonly cells?: Cells
}

/** A table of a page. */
export type Listed = Asked & {
  /** Rows of a page; 50 unless told otherwise. */
  readonly rows?: number
  /** The columns of the CSV, as columns of the SQL: `id, name`. */
  readonly csv?: string
  /** Columns that SQL does not have. */
  readonly more?: (row: Row) => Row
  /** A value of each filter, as SQL over all rows; the condition if it is not for the column of that name; the order if it has its own. */
  readonly filters?: Readonly<
    Record<string, string | readonly [value: string, condition: string, order?: string]>
  >
  /** The order by each value of `sort`, with the condition of the rows that have a place in it. */
  readonly sorts?: Readonly<Record<string, readonly [order: string, condition: string]>>
}

/** The facts of a page about one thing: the query has one row. */
export type Facts = Asked & { readonly heading: (row: Row) => string }

/** SQL for how long something took, as `{ ms }`, in the milliseconds that a Date has. */
export function took(from: string, to: string): string {
  const ms = (at: string) => `date_trunc('milliseconds', ${at})`
  return `case when ${to} is not null then json_build_object('ms', extract(epoch from ${ms(to)} - ${ms(from)}) * 1000) end`
}

/** SQL for what lasts until now, as `{ growing }`. */
export function growing(ms: string): string {
  return `json_build_object('growing', (${ms})::float8)`
}

/** What lasts until now is read later than it was asked for here: by this much at most. */
export const MAX_LATER_MS = 120_000

/** A value as most cells show it: instants lead to what happened then, numbers have groups of three. */
export function plain(value: unknown, missing = '–'): string | readonly string[] {
  if (value === null || value === undefined) return missing
  if (value instanceof Date)
    return value.getTime() > Date.now() ? value.toISOString() : `@${value.toISOString()}`
  if (typeof value === 'number') return value.toLocaleString('en-US')
  if (typeof value !== 'object') return `${value}`
  const { ms, growing } = value as { ms?: number; growing?: number }
  if (growing === undefined) return duration(ms ?? Number.NaN)
  return Array.from({ length: MAX_LATER_MS / 100 }, (_, n) => duration(growing + n * 100))
}

/** An expression for a column that has other words, or none, for no value. */
export const or =
  (column: string, missing = '') =>
  (row: Row) =>
    plain(row[column], missing)

export function link(
  words: unknown,
  path: string,
  query: Readonly<Record<string, string | null | undefined>> = {},
): string {
  const given = Object.entries(query).filter((entry): entry is [string, string] => entry[1] != null)
  return `[${words}](${path}${given.length > 0 ? `?${new URLSearchParams(given)}` : ''})`
}

export const runLink = (run: string, words = `run ${run}`) => link(words, `/ledger/runs/${run}`)
export const importLink = (id: string, words = id) => link(words, `/imports/${id}`)
export const callsOf = (id: string | null) =>
  id === null ? '–' : link(id, '/ledger/calls', { request_id: id })

/** A rule or server: its name, which leads to it, and what it is. */
export function thing({ id, name, account, inventory = 'alert-rules' }: Row): string {
  const [path, noun] = inventory === 'alert-rules' ? ['rules', 'alert rule'] : ['servers', 'MCP server']
  return `${link(name || id, `/${path}/${account}/${id}`)} ${noun} ${id} in ${account}`
}

export const serverLink = ({ account, id, server }: Row) => link(server || id, `/servers/${account}/${id}`)

export function teamLink({ account, team }: Row, query: Readonly<Record<string, string>> = {}): string {
  return link(team === '0' ? 'the whole account' : `team ${team}`, '/servers', { ...query, account, team })
}

/** Colors of the words for how something ended or is. */
const TONES: Readonly<Record<string, string>> = {
  ...{ succeeded: 'good', partial: 'warn', held: 'warn', failed: 'bad' },
  ...{ added: 'good', removed: 'bad', returned: 'warn', 'description changed': 'warn' },
  ...{ high: 'bad', medium: 'warn', sent: 'good', uncertain: 'warn', rejected: 'bad', paused: 'warn' },
  ...{ staging: 'warn', running: 'good', undecided: 'warn', completed: 'good', approved: 'good' },
  ...{ delivered: 'good', waiting: 'warn', dead: 'bad', raised: 'warn', resolved: 'good' },
  ...{
    fresh: 'good',
    late: 'bad',
    never: 'bad',
    firing: 'bad',
    alive: 'good',
    enabled: 'good',
    disabled: 'warn',
  },
}

export function state(word: string, tones: Readonly<Record<string, string>> = {}): string {
  return `${tones[word] ?? TONES[word] ?? 'quiet'}:${word}`
}

/** What is invisible has marks. */
export function marked(text: string | null): string {
  return `${plain(text)}`.replaceAll('\u200b', 'U+200B')
}

/** What differs as a page has it: `field: old → new; `. */
export function differences(before: Row | null, after: Row | null): string {
  const words = (value: unknown) =>
    value === ''
      ? '(empty)'
      : (value ?? null) === null
        ? 'none'
        : typeof value === 'object'
          ? JSON.stringify(value)
          : value
  const found = differing(before, after).map(([name, old, now]) => `${name}: ${words(old)} → ${words(now)};`)
  return before && after ? marked(found.join(' ') || OUTSIDE) : ''
}

/** The same on the command line and in CSV: `field: "old" → "new", `. */
export function differencesInWords(before: Row | null, after: Row | null): string {
  const found = differing(before, after).map(values =>
    values.map((value, n) => (n === 0 ? value : (JSON.stringify(value) ?? 'none'))),
  )
  return before && after
    ? found.map(([name, old, now]) => `${name}: ${old} → ${now}`).join(', ') || OUTSIDE
    : ''
}

const OUTSIDE = 'edited outside the basic view'
const OF_EDIT = ['updater_id', 'updater_name', 'updated_at']

/** Labels one by one, tools by their names and last, without who edited and when. */
function differing(before: Row | null, after: Row | null): [name: string, old: unknown, now: unknown][] {
  const [old, now] = [before ?? {}, after ?? {}]
  return Object.keys({ ...old, ...now })
    .toSorted((a, b) => Number(a === 'tools') - Number(b === 'tools'))
    .filter(name => !OF_EDIT.includes(name))
    .flatMap((name): [string, unknown, unknown][] => {
      if (!old[name] || !now[name] || !['labels', 'tools'].includes(name))
        return [[name, old[name], now[name]]]
      const [were, are] = [byName(old[name]), byName(now[name])]
      return Object.keys({ ...were, ...are }).map(one => [`${name}.${one}`, were[one], are[one]])
    })
    .filter(([, one, other]) => one !== other)
}

function byName(values: Row | readonly Row[]): Row {
  return Array.isArray(values)
    ? Object.fromEntries(values.map(tool => [tool.name, tool.description]))
    : values
}

/** Usual expressions for a value and its row. */
export const FORMS: Readonly<Record<string, (value: string, row: Row) => Wanted>> = {
  state: value => state(value),
  thing: (_, row) => thing(row),
  server: (_, row) => serverLink(row),
  team: (_, row) => teamLink(row),
  run: value => runLink(value, value),
  import: value => importLink(value),
  calls: value => callsOf(value),
  marked: value => marked(value),
  differences: (_, { before, after }) => differences(before, after),
  none: value => plain(value, ''),
}
