/** What a status says of a row: nothing against it, why it is left out, or that nobody knows what it means. */
export type Judgement = { readonly kind: 'fine' | 'unknown' } | { readonly kind: 'left out'; reason: string }

export type Status = {
  /** The columns it may be in; the first that is there is taken. */
  readonly columns: readonly string[]
  /** Without it nobody can say who may be written to: a file that lacks it is refused. */
  readonly required?: true
  /** Of the value in small letters; empty also for null. `method` is the one imported. */
  judge(value: string, method: string): Judgement
}

/** How one product writes down its subscribers. */
export type Preset = {
  readonly product: string
  /** By field: the columns it may be in, where they are not those of every file. */
  readonly columns?: Readonly<
    Partial<Record<'recipient' | 'all' | 'component_ids' | 'locale', readonly string[]>>
  >
  /** What tells who is left out. */
  readonly statuses: Readonly<Record<string, Status>>
  /** Columns that hold another address than e-mail: who has only such a one is left out. */
  readonly others?: readonly string[]
  /** `[]` for components is documented to mean all of them. */
  readonly emptyListIsAll?: true
  /** The key of NDJSON rows that holds the fields. */
  readonly inside?: string
  /** The key of the id where components are objects. */
  readonly componentKey?: string
  /** The columns of a file without a header, if this first line is a row of one. */
  headerOf?(first: readonly string[]): readonly string[] | null
}

export const FINE: Judgement = { kind: 'fine' }
export const UNKNOWN: Judgement = { kind: 'unknown' }

export function leftOut(reason: string): Judgement {
  return { kind: 'left out', reason }
}

/** Judges `values` as said; any other is unknown. */
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

/** Judges a time that is there once something has happened. */
export function atSomeTime({ never, once }: { never: Judgement; once: Judgement }): Status['judge'] {
  return value => {
    if (NO_TIME.has(value) || ZERO_TIME.test(value)) return never
    return TIME.test(value) ? once : UNKNOWN
  }
}

/** As databases and scripts write that there is none. */
const NO_TIME = new Set(['', 'null', '\\n', 'none', 'nil'])
const ZERO_TIME = /^0000-00-00(?:[t ]00:00:00(?:\.0+)?)?$/
/** A date that can be, or seconds or milliseconds since 1970. */
const TIME = /^(?:\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])(?:[t ]\d\d:.*)?|\d{9,13})$/
