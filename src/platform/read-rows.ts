import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import type { Declaration } from '#src/model/fields.ts'
import { cleanString, cleanText, mayNeedCleaning } from './clean-text.ts'
import { type Declared, type RawRow, typeInWords } from './declared.ts'
import { parseLossless } from './lossless-json.ts'
import type { PlainFields } from './plain-row.ts'

/** One kind of row: its form on the network and how it becomes a row of the model. */
export type RowKind<Row, Wire> = {
  readonly declaration: Declaration
  /** Null if no row of this kind is plain, see `plain-row.ts`. */
  readonly plain: PlainFields | null
  /** Where the rows are in the body of a listing. */
  readonly path: readonly string[]
  /** The most rows of a listing, and the message for a longer one. */
  readonly maxRows: number
  readonly tooMany: string
  readonly wire: z.ZodType<Wire>
  readonly declared: Declared
  /** The id as delivered, or null if it cannot be read. */
  readonly idOf: (raw: RawRow) => RowId | null
  readonly toRow: (wire: Wire) => Row
}

export type RowId = string | number | bigint

/** The result of reading a row: a row of the model, or why it is not one. */
export type RowReading<Row> =
  | { readonly id: RowId; readonly row: Row; readonly altered: readonly string[] }
  | { readonly id: RowId | null; readonly reason: string }

/** The same, with the parsed JSON. */
export type ParsedRow<Row> = RowReading<Row> & { readonly raw: unknown }

/** Stands in `readRow` for a row longer than `MAX_ROW_BYTES`, which was not parsed. */
export const TOO_LONG = Symbol('a row that is too long')
/** Stands in `readRow` for a row with an integer beyond 2^53-1 that is nested too deeply to be parsed exactly. */
export const TOO_DEEP = Symbol('a row that is nested too deeply')

/** Returns the row in a JSON text, or `TOO_DEEP`. Throws a SyntaxError if it is not JSON. */
function parseExactly(json: string): unknown {
  try {
    return parseLossless(json)
  } catch (error) {
    if (error instanceof RangeError) return TOO_DEEP
    throw error
  }
}

/** A reason names at most this many wrong fields. */
const MAX_ISSUES = 5

export const NOTHING_ALTERED: readonly string[] = []

/**
 * Reads the text of a row; null if it is not JSON. Without a text, the row was too long. JSON.parse alone rounds large
 * integers, and a row with one of them fails the check. So only rows that fail it are parsed again in the slower way, which is
 * exact.
 */
export function parseRow<Row, Wire>(kind: RowKind<Row, Wire>, text: Buffer | null): ParsedRow<Row> | null {
  if (text === null) return { raw: TOO_LONG, ...readRow(kind, TOO_LONG, false) }
  const json = text.toString('utf8')
  const mayBeDirty = mayNeedCleaning(json)
  try {
    const raw: unknown = JSON.parse(json)
    const read = readRow(kind, raw, mayBeDirty)
    const isText = isUtf8(text)
    if ('row' in read && isText) return { raw, ...read }
    const exact = parseExactly(json)
    const again = readRow(kind, exact, mayBeDirty)
    if (isText) return { raw: exact, ...again }
    // Characters were replaced, and two keys may have become one.
    return { raw: exact, id: again.id, reason: 'the row is not UTF-8' }
  } catch (error) {
    if (error instanceof SyntaxError) return null
    throw error
  }
}

/**
 * Reads one row. Never throws for what the platform sent. `mayBeDirty` tells whether its text may contain U+0000 or lone
 * surrogates (`mayNeedCleaning`).
 */
export function readRow<Row, Wire>(
  kind: RowKind<Row, Wire>,
  raw: unknown,
  mayBeDirty: boolean,
): RowReading<Row> {
  if (raw === TOO_LONG) return { id: null, reason: 'the row is longer than 1 MiB' }
  if (raw === TOO_DEEP) return { id: null, reason: 'the row is nested too deeply to be read exactly' }
  if (typeof raw !== 'object' || raw === null || Array.isArray(raw)) {
    return { id: null, reason: `the row must be an object, not ${typeInWords(raw)}` }
  }
  const rawId = kind.idOf(raw as RawRow)
  const id = mayBeDirty && typeof rawId === 'string' ? cleanString(rawId) : rawId
  const parsed = kind.wire.safeParse(raw)
  if (!parsed.success) return { id, reason: reasonOf(parsed.error, raw) }
  if (id === null) throw new Error('a row without an id was read')
  const row = kind.toRow(parsed.data)
  if (!mayBeDirty) return { id, row, altered: NOTHING_ALTERED }
  const clean = cleanText(row)
  return { id, row: clean.value, altered: clean.altered }
}

/** Names fields and types, never a value: a secret may be in the wrong field. */
function reasonOf(error: z.ZodError, raw: object): string {
  const words = error.issues.slice(0, MAX_ISSUES).map(issue => {
    const field = issue.path.reduce<string>(
      (path, part) =>
        typeof part === 'number' ? `${path}[${part}]` : `${path}${path && '.'}${String(part)}`,
      '',
    )
    const value = issue.path.reduce<unknown>((at, part) => (at as Record<PropertyKey, unknown>)[part], raw)
    if (value === undefined) return `${field} is missing`
    const isOfItsType = issue.code === 'too_small' || issue.code === 'too_big'
    return `${field} ${issue.message}${isOfItsType ? '' : `, not ${typeInWords(value)}`}`
  })
  const more = error.issues.length - words.length
  return words.join('; ') + (more > 0 ? `; and ${more} more` : '')
}
