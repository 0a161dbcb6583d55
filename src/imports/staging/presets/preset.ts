/** The meaning of a status for a row: it is fine, it is left out, or the status is unknown. */
export type Judgement = { readonly kind: 'fine' | 'unknown' } | { readonly kind: 'left out'; reason: string }

export type Status = {
  /** The columns it may be in; the first of them that the file has is used. */
  readonly columns: readonly string[]
  /** A file without it is refused: it would be unknown which people agreed to be subscribed. */
  readonly required?: true
  /** Judges the value in lower case; it is empty for null too. `method` is the one that is imported. */
  judge(value: string, method: string): Judgement
}

/** How the exports of one product are written. */
export type Preset = {
  readonly product: string
  /** For each field the columns it may be in, if they are not those of every file. */
  readonly columns?: Readonly<
    Partial<Record<'recipient' | 'all' | 'component_ids' | 'locale', readonly string[]>>
  >
  /** The fields by which rows are left out. */
  readonly statuses: Readonly<Record<string, Status>>
  /** Columns of other addresses than e-mail: a row that has only such an address is left out. */
  readonly others?: readonly string[]
  /** `[]` means all components, as the product documents it. */
  readonly emptyListIsAll?: true
  /** The key of NDJSON rows that holds the fields. */
  readonly inside?: string
  /** The key of the id where components are objects. */
  readonly componentKey?: string
  /** Returns the columns of a file without a header if its first line is a row; else null. */
  headerOf?(first: readonly string[]): readonly string[] | null
}

export const FINE: Judgement = { kind: 'fine' }
export const UNKNOWN: Judgement = { kind: 'unknown' }

export function leftOut(reason: string): Judgement {
  return { kind: 'left out', reason }
}

/** Judges the given values; any other is unknown. */
export function oneOf(values: Readonly<Record<string, Judgement>>): Status['judge'] {
  const known = new Map(Object.entries(values))
  return value => known.get(value) ?? UNKNOWN
}

export const CONFIRMED = oneOf({
  true: FINE,
  yes: FINE,
  '1': FINE,
  false: leftOut('unconfirmed'),
  no: leftOut('unconfirmed'),
  '0': leftOut('unconfirmed'),
})

/** Judges a time that is set once something has happened. */
export function atSomeTime({ never, once }: { never: Judgement; once: Judgement }): Status['judge'] {
  return value => {
    if (NO_TIME.has(value) || ZERO_TIME.test(value)) return never
    return TIME.test(value) ? once : UNKNOWN
  }
}

/** The ways in which databases and scripts write a missing time. */
const NO_TIME = new Set(['', 'null', '\\n', 'none', 'nil'])
const ZERO_TIME = /^0000-00-00(?:[t ]00:00:00(?:\.0+)?)?$/
/** A possible date, or seconds or milliseconds since 1970. */
const TIME = /^(?:\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[t ]\d\d:.*)?|\d{9,13})$/
