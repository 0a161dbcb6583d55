import type { Pool } from 'pg'
import type { Resource } from '#src/model/resource.ts'

/*
 * A list is declared once, in the room of its domain: what narrows it, its order, how it is read, and its columns. Of that
 * the console makes a page (`console/parts/list-page.ts`), and the command line options, a table and JSON
 * (`cli/list-command.ts`).
 */

/** A filter of a list. */
export type Filter = {
  /** Its field on the page; absent: the page has none. */
  readonly label?: string
  /** Its option of the command; absent: the command has none. */
  readonly option?: readonly [flags: string, description: string]
} & (
  | { readonly kind: 'account'; readonly max?: number }
  | { readonly kind: 'text'; readonly hint?: string; readonly max?: number; readonly suggest?: Suggest }
  /** An id of the platform. `of` is what it is the number of. */
  | {
      readonly kind: 'id'
      readonly hint?: string
      readonly of: string
      readonly max?: bigint
      readonly suggest?: Suggest
    }
  | { readonly kind: 'instant' }
  /** Yes or no. The option of the command is for yes; `opposite` is the one for no. */
  | {
      readonly kind: 'flag'
      readonly words: { readonly yes: string; readonly no: string }
      readonly opposite?: readonly [flags: string, description: string]
    }
  /** Labels that a row has, each written as `key=value`; a page takes one. */
  | { readonly kind: 'labels'; readonly hint?: string }
  | {
      readonly kind: 'choice'
      readonly values: readonly string[]
      /** The words of each value on the page, if they are others. */
      readonly words?: Readonly<Record<string, string>>
      /** The word for no choice: `any` unless it is given. */
      readonly any?: string
      /** Other values may be asked for too: those of the platform. */
      readonly isOpen?: true
    }
)
export type Filters = Readonly<Record<string, Filter>>

/** Returns values that the field of a page offers. They are read while the page is made, so in milliseconds. */
export type Suggest = (pool: Pool) => Promise<readonly string[]>

type ValueOf<One extends Filter> = One extends { readonly isOpen: true }
  ? string
  : One extends { readonly values: readonly (infer Value)[] }
    ? Value
    : One['kind'] extends 'id'
      ? bigint
      : One['kind'] extends 'instant'
        ? Date
        : One['kind'] extends 'flag'
          ? boolean
          : One['kind'] extends 'labels'
            ? Readonly<Record<string, string>>
            : string

/** The values of the filters; a filter left out does not narrow the list. */
export type Asked<Of extends Filters> = { readonly [Name in keyof Of]?: ValueOf<Of[Name]> | undefined }

/** The values that a list is ordered by. Ids are text; an instant is exact to the microsecond, as Postgres writes it. */
export type OrderKind = 'id' | 'number' | 'text' | 'resource' | 'instant' | 'instant or null' | 'count'
export type Order = readonly OrderKind[]

type KeyOf<Kind extends OrderKind> = Kind extends 'count'
  ? number
  : Kind extends 'resource'
    ? Resource
    : Kind extends 'instant or null'
      ? string | null
      : string

/** The place of a row in the list: its values of the order. */
export type PlaceOf<By extends Order> = { readonly [At in keyof By]: KeyOf<By[At]> }

/** A value of a table: its type says how it is shown. */
export type Cell = string | number | bigint | boolean | Date | Lasting | null

/** A duration. */
export type Lasting = { readonly ms: number }

export function isLasting(cell: Cell | undefined): cell is Lasting {
  return typeof cell === 'object' && cell !== null && 'ms' in cell
}

/** How long something took; null if it has not ended. */
export function lasting(from: Date, to: Date | null): Lasting | null {
  return to && { ms: to.getTime() - from.getTime() }
}

/** The columns of a table of the command line and of CSV, in their order, each with the cell of a row. */
export type Columns<Row, Name extends string> = { readonly [Column in Name]: (row: Row) => Cell }

export function cellsOf<Row, Name extends string>(
  columns: Columns<Row, Name>,
  row: Row,
): Readonly<Record<Name, Cell>> {
  const cells = Object.entries<(row: Row) => Cell>(columns).map(([name, cell]) => [name, cell(row)])
  return Object.fromEntries(cells) as Record<Name, Cell>
}

/** A part of a list. */
export type Part<Row, Place> = {
  readonly rows: readonly Row[]
  /** The place after which the list goes on; null: it ends here. */
  readonly next: Place | null
}

export type Wanted<Of extends Filters, By extends Order> = {
  readonly filter: Asked<Of>
  /** Null: from the beginning. */
  readonly after: PlaceOf<By> | null
  readonly limit: number
}

export type List<Row, Of extends Filters, By extends Order, Name extends string = string, More = unknown> = {
  /** The caption of the list on a page. */
  readonly caption: string
  readonly filters: Of
  readonly order: By
  load(pool: Pool, wanted: Wanted<Of, By>): Promise<Part<Row, PlaceOf<By>> & More>
  readonly columns: Columns<Row, Name>
  /** Shown in place of rows. */
  readonly none: string
  /** The same where the list is narrowed, if that has other words. */
  readonly noneMatches?: string
  /** The JSON of a row for programs; absent: all of the row. */
  json?(row: Row): object
}

/** What a command needs of a list to print all its rows while they come. `Asked` says which rows. */
export type Streamed<Row, Asked, Name extends string = string> = {
  readonly columns: Columns<Row, Name>
  readonly none: string
  json(row: Row): object
  /** Yields the rows, at most `limit`, no faster than they are taken. */
  stream(pool: Pool, asked: Asked, limit: number | null): AsyncIterable<Row>
  /** How many there are. Stops counting at `atMost`. */
  count(pool: Pool, asked: Asked, atMost: number): Promise<number>
}

/** A list of which a command prints all rows while they come. */
export type LongList<
  Row,
  Of extends Filters,
  By extends Order,
  Name extends string = string,
  More = unknown,
> = List<Row, Of, By, Name, More> & Streamed<Row, Asked<Of>, Name>

/** Returns the declaration as it is, with its types. */
export function longList<Row, const Of extends Filters, const By extends Order, Name extends string, More>(
  declared: LongList<Row, Of, By, Name, More>,
): LongList<Row, Of, By, Name, More> {
  return declared
}

/** Returns the declaration as it is, with its types. */
export function list<Row, const Of extends Filters, const By extends Order, Name extends string, More>(
  declared: List<Row, Of, By, Name, More>,
): List<Row, Of, By, Name, More> {
  return declared
}

/** Cuts one row more than was asked for off: it says that the list goes on. */
export function partOf<Row, Place>(
  found: readonly Row[],
  limit: number,
  placeOf: (row: Row) => Place,
): Part<Row, Place> {
  const rows = found.slice(0, limit)
  const last = rows.at(-1)
  return { rows, next: found.length > limit && last !== undefined ? placeOf(last) : null }
}

/** The number after which a list goes on that is ordered by its ids alone. */
export function idAfter(after: readonly [string] | null): bigint | undefined {
  return after === null ? undefined : BigInt(after[0])
}

/** Whether anything was asked for. */
export function isNarrowedBy(filter: Readonly<Record<string, unknown>>): boolean {
  return Object.values(filter).some(value => value !== undefined)
}

/** The account, of a list that has no command, or whose command shows all accounts. */
export const ACCOUNT_OF_PAGE = { kind: 'account', label: 'Account' } as const satisfies Filter

/** The account, as most lists are narrowed by it. */
export const ACCOUNT = {
  ...ACCOUNT_OF_PAGE,
  option: ['--account <name>', 'only this account'],
} as const satisfies Filter

/** A time that a page bounds. */
export const SINCE_AND_UNTIL = {
  since: { kind: 'instant', label: 'Since' },
  until: { kind: 'instant', label: 'Until' },
} as const satisfies Filters

/** The same, of which the command line gives the beginning. */
export function sinceAndUntil(description: string) {
  const { since, until } = SINCE_AND_UNTIL
  return { since: { ...since, option: ['--since <when>', description] }, until } as const
}
