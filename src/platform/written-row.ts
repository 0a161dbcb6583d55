import {
  type AnyRow,
  type Declaration,
  definitionOf,
  type FieldKind,
  textOfValue,
} from '#src/model/fields.ts'
import { canonicalForm, fingerprint } from '#src/model/fingerprint.ts'
import { LETTER_T, MINUS, ZERO } from './ascii.ts'
import { ByteWriter } from './byte-writer.ts'

/** A row in the form in which it is stored. */
export type WrittenRow = {
  readonly fingerprint: string
  /** Returns the columns of its definition in the binary format of COPY, one character for each byte. */
  columns(): string
}

/** Returns a function that writes rows which were parsed. */
export function rowWriter(declaration: Declaration): (row: AnyRow) => WrittenRow {
  const canonical = canonicalForm(declaration)
  const columns = definitionOf(declaration.fields).map(
    name => [name, declaration.fields[name]?.kind ?? 'text'] as const,
  )
  return row => {
    let written: string | null = null
    return {
      fingerprint: fingerprint(canonical(row)),
      columns: () => (written ??= columnsOf(row, columns)),
    }
  }
}

function columnsOf(row: AnyRow, columns: readonly (readonly [name: string, kind: FieldKind])[]): string {
  const texts = columns.map(([name]) => {
    const text = textOfValue(row[name])
    return text === null ? null : Buffer.from(text)
  })
  const size = texts.reduce((sum, text) => sum + MAX_MORE_BYTES + (text?.length ?? 0), 0)
  const into = new ByteWriter(size)
  for (const [n, [, kind]] of columns.entries()) {
    const text = texts[n]
    if (text) writeColumn(into, kind, text, 0, text.length)
    else into.int32(NULL)
  }
  return into.bytes.toString('latin1', 0, into.length)
}

/** The length of a column that is null. */
export const NULL = -1
/** By how much a column may be longer than its text. */
const MAX_MORE_BYTES = 16

const JSONB_VERSION = 1
const NEGATIVE_NUMERIC = 0x4000
/** Digits of a numeric in one of base 10,000. */
const DIGITS = 4

/**
 * Writes a value as a column of its kind, with its length before it, as Postgres receives it in binary. From `from` to `to`, `text`
 * is a text in UTF-8, or else JSON.
 */
export function writeColumn(into: ByteWriter, kind: FieldKind, text: Buffer, from: number, to: number): void {
  if (kind === 'uint64' || kind === 'id64') writeNumeric(into, text, from, to)
  else if (kind === 'int64') writeInt64(into, integerIn(text, from, to))
  else if (kind === 'flag') {
    into.int32(1)
    into.put(text[from] === LETTER_T ? 1 : 0)
  } else {
    const isJson = kind === 'labels' || kind === 'tools'
    into.int32(to - from + (isJson ? 1 : 0))
    if (isJson) into.put(JSONB_VERSION)
    into.add(text, from, to)
  }
}

function writeNumeric(into: ByteWriter, text: Buffer, from: number, to: number): void {
  const isNegative = text[from] === MINUS
  let at = isNegative ? from + 1 : from
  const groups = Math.ceil((to - at) / DIGITS)
  into.int32(8 + 2 * groups)
  into.int16(groups)
  into.int16(groups - 1)
  into.int16(isNegative ? NEGATIVE_NUMERIC : 0)
  into.int16(0)
  for (let left = groups - 1; left >= 0; left--) {
    let group = 0
    for (const end = to - left * DIGITS; at < end; at++) group = 10 * group + (text[at] as number) - ZERO
    into.int16(group)
  }
}

function writeInt64(into: ByteWriter, value: number | bigint): void {
  into.int32(8)
  if (typeof value === 'bigint') {
    into.length = into.bytes.writeBigInt64BE(value, into.length)
  } else {
    into.int32(Math.floor(value / 2 ** 32))
    into.int32(value % 2 ** 32)
  }
}

/** Returns the integer that these digits are. Summing them up takes a fraction of the time that making a text of them does. */
export function integerIn(bytes: Buffer, from: number, to: number): number | bigint {
  const isNegative = bytes[from] === MINUS
  let sum = 0
  for (let at = isNegative ? from + 1 : from; at < to; at++) sum = 10 * sum + ((bytes[at] as number) - ZERO)
  if (sum > Number.MAX_SAFE_INTEGER) return BigInt(bytes.toString('latin1', from, to))
  return isNegative ? -sum : sum
}
