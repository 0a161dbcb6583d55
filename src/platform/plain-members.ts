import type { FieldKind, Fields } from '#src/model/fields.ts'
import { MAX_UINT64 } from '#src/model/uint64.ts'
import {
  BACKSLASH,
  CLOSE_BRACE,
  COLON,
  COMMA,
  LETTER_N,
  MINUS,
  NINE,
  OPEN_BRACE,
  QUOTE,
  ZERO,
} from './ascii.ts'
import type { RawRow } from './declared.ts'

/*
 * Finds the members of a plain row: a JSON object without spaces between its parts and without escapes in its strings, as most
 * rows of a listing are. Its keys may come in any order.
 */

/** Returns where the value that begins at `at` ends; -1 if none of its form begins there. */
type Form = (bytes: Buffer, at: number) => number

type Key = {
  readonly name: Buffer
  /** The number of the declared field; -1 of another. */
  readonly field: number
  /** What its value may be. */
  readonly forms: Form[]
}

const FIRST_PRINTABLE = 0x20

const NULL = Buffer.from('null')
const TRUE = Buffer.from('true')
const FALSE = Buffer.from('false')

/** An integer of at most this many digits is exact in a double. */
const EXACT_DIGITS = 15
const MAX_UINT64_TEXT = `${MAX_UINT64}`

/** The kinds that can be read so. An integer of 64 bits that is signed is read only if a double holds it. */
const FORMS: Partial<Record<FieldKind, Form>> = {
  uint64: endOfUint64,
  int64: endOfInteger,
  text: endOfString,
  flag: endOfFlag,
  labels: endOfLabels,
}
/** Undeclared fields of other types have no form: they may hold undeclared fields of their own. */
const UNDECLARED: Readonly<Record<string, Form>> = {
  string: endOfString,
  number: endOfNumber,
  bigint: endOfNumber,
  boolean: endOfFlag,
}
/** So many undeclared fields are learned: invented ones fill no memory. */
const MAX_UNDECLARED = 100
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/
const MAX_NUMBER_LENGTH = 100

const BUCKETS = 64

/** Where the values of a row stand: in `from` and `to`, by the numbers of the declared fields. */
export class PlainMembers {
  /** The first byte of each value, quotes included; -1 if the row has no such field, or it is null. */
  readonly from: Int32Array
  /** The byte after each value. */
  readonly to: Int32Array
  readonly #keys = new Map<string, Key>()
  /** By `bucketOf`, so that one key, or few, must be compared byte by byte. */
  readonly #buckets: Key[][] = Array.from({ length: BUCKETS }, () => [])
  readonly #required: readonly number[]

  constructor(fields: Fields) {
    const declared = Object.entries(fields)
    this.from = new Int32Array(declared.length)
    this.to = new Int32Array(declared.length)
    this.#required = declared.flatMap(([, { isOptional }], field) => (isOptional ? [] : [field]))
    for (const [field, [name, { kind, isOptional }]] of declared.entries()) {
      const form = FORMS[kind]
      this.#add(name, field, [...(form ? [form] : []), ...(isOptional ? [endOfNull] : [])])
    }
  }

  /** Takes the undeclared fields of a row: later ones may have them too. */
  learn(raw: RawRow): void {
    for (const [name, value] of Object.entries(raw)) {
      const form = value === null ? endOfNull : UNDECLARED[typeof value]
      if (form === undefined || !/^\w+$/.test(name)) continue
      const key = this.#keys.get(name)
      if (key?.field === -1 && !key.forms.includes(form)) key.forms.push(form)
      if (key === undefined && this.#keys.size < this.from.length + MAX_UNDECLARED)
        this.#add(name, -1, [form])
    }
  }

  #add(name: string, field: number, forms: Form[]): void {
    const key = { name: Buffer.from(name), field, forms }
    this.#keys.set(name, key)
    this.#buckets[bucketOf(key.name, 0, key.name.length)]?.push(key)
  }

  /** Finds the members of the row in a JSON text. False if it is not plain, or has other fields: then it is left to the parser. */
  find(bytes: Buffer): boolean {
    const { from, to } = this
    from.fill(-1)
    if (bytes[0] !== OPEN_BRACE) return false
    let at = 0
    do {
      const key = this.#keyAt(bytes, at + 1)
      if (key === null) return false
      const begin = at + key.name.length + '{"":'.length
      at = endOfAny(key.forms, bytes, begin)
      if (at === -1) return false
      if (key.field === -1) continue
      // Of a key that comes twice, the parser takes the last.
      if (from[key.field] !== -1) return false
      if (bytes[begin] === LETTER_N) continue
      from[key.field] = begin
      to[key.field] = at
    } while (bytes[at] === COMMA)
    return bytes[at] === CLOSE_BRACE && at === bytes.length - 1 && this.#hasRequired()
  }

  /** Returns the key that stands at `at` with its quotes, if a colon follows. */
  #keyAt(bytes: Buffer, at: number): Key | null {
    const end = endOfString(bytes, at)
    if (end === -1 || bytes[end] !== COLON) return null
    const keys = this.#buckets[bucketOf(bytes, at + 1, end - 1)] as Key[]
    const length = end - at - '""'.length
    for (const key of keys) {
      if (key.name.length === length && beginsWith(bytes, at + 1, key.name)) return key
    }
    return null
  }

  #hasRequired(): boolean {
    for (const field of this.#required) if (this.from[field] === -1) return false
    return true
  }
}

function bucketOf(bytes: Buffer, from: number, to: number): number {
  const first = bytes[from] as number
  const last = bytes[to - 1] as number
  return (to - from + 31 * first + 7 * last) % BUCKETS
}

function beginsWith(bytes: Buffer, at: number, text: Buffer): boolean {
  let n = 0
  while (n < text.length && bytes[at + n] === text[n]) n++
  return n === text.length
}

function endOfAny(forms: readonly Form[], bytes: Buffer, at: number): number {
  for (const form of forms) {
    const end = form(bytes, at)
    if (end !== -1) return end
  }
  return -1
}

/** A string without escapes, its quotes included. */
export function endOfString(bytes: Buffer, at: number): number {
  if (bytes[at] !== QUOTE) return -1
  const { length } = bytes
  for (let n = at + 1; n < length; n++) {
    const byte = bytes[n] as number
    if (byte === QUOTE) return n + 1
    if (byte === BACKSLASH || byte < FIRST_PRINTABLE) return -1
  }
  return -1
}

/** An object of strings. */
function endOfLabels(bytes: Buffer, at: number): number {
  if (bytes[at] !== OPEN_BRACE) return -1
  if (bytes[at + 1] === CLOSE_BRACE) return at + 2
  let end = at
  do {
    end = endOfString(bytes, end + 1)
    if (end === -1 || bytes[end] !== COLON) return -1
    end = endOfString(bytes, end + 1)
  } while (bytes[end] === COMMA)
  return bytes[end] === CLOSE_BRACE ? end + 1 : -1
}

function endOfUint64(bytes: Buffer, at: number): number {
  const end = endOfDigits(bytes, at, MAX_UINT64_TEXT.length)
  return end - at === MAX_UINT64_TEXT.length && bytes.toString('latin1', at, end) > MAX_UINT64_TEXT ? -1 : end
}

function endOfInteger(bytes: Buffer, at: number): number {
  if (bytes[at] !== MINUS) return endOfDigits(bytes, at, EXACT_DIGITS)
  return bytes[at + 1] === ZERO ? -1 : endOfDigits(bytes, at + 1, EXACT_DIGITS)
}

/** A number without a leading zero. */
function endOfDigits(bytes: Buffer, at: number, max: number): number {
  if (bytes[at] === ZERO) return at + 1
  let end = at
  while (isDigit(bytes[end])) end++
  return end === at || end - at > max ? -1 : end
}

function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= ZERO && byte <= NINE
}

/** One that is longer than the part that is looked at is followed by what cannot be there. */
function endOfNumber(bytes: Buffer, at: number): number {
  const [number] = NUMBER.exec(bytes.toString('latin1', at, at + MAX_NUMBER_LENGTH)) ?? []
  return number === undefined ? -1 : at + number.length
}

function endOfFlag(bytes: Buffer, at: number): number {
  return Math.max(endOfWord(bytes, at, TRUE), endOfWord(bytes, at, FALSE))
}

function endOfNull(bytes: Buffer, at: number): number {
  return endOfWord(bytes, at, NULL)
}

function endOfWord(bytes: Buffer, at: number, word: Buffer): number {
  return beginsWith(bytes, at, word) ? at + word.length : -1
}
