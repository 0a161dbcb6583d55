import { isUtf8 } from 'node:buffer'
import {
  type AnyRow,
  type Declaration,
  definitionOf,
  type FieldKind,
  type Fields,
} from '#src/model/fields.ts'
import { canonicalEntries, fingerprint } from '#src/model/fingerprint.ts'
import type { RawRow } from './declared.ts'
import type { WrittenRow } from './listing.ts'

/*
 * The rows of a listing look alike: the same keys in the same order, and few strings with escapes. So one regular expression
 * made from a row takes the others apart, in a third of the time that parsing, checking and writing them takes.
 *
 * It matches only JSON objects of exactly this form, so a match also proves that the text is valid JSON, that every type is
 * right, and that there is no field that the row before did not have. A string without backslash and control character is
 * its own JSON and its own COPY text. Whatever does not match is read by `parseRow`, and both give the same row.
 *
 * Text is taken byte for byte, one character each (Latin-1): what is not ASCII goes from the body to the fingerprint and to
 * Postgres without being decoded.
 */

/** The text of a row: a part of the chunk that it came in, until it is replaced by a copy. */
export type RowText = { bytes: Buffer }

/** A row as the template reads it. Fields that are not needed of every row are parsed when the first of them is asked for. */
export type TemplateRow<Row> = {
  readonly id: string
  readonly row: Row
  readonly text: RowText
  readonly written: WrittenRow
}

const STRING = String.raw`"[^"\\\x00-\x1f]*"`
const NUMBER = String.raw`-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?`
/** What a value of each kind matches. An integer of 64 bits that is signed is matched only if a double holds it. */
const FORMS: Partial<Record<FieldKind, string>> = {
  uint64: String.raw`(0|[1-9]\d{0,19})`,
  int64: String.raw`(0|-?[1-9]\d{0,14})`,
  text: String.raw`"([^"\\\x00-\x1f]*)"`,
  flag: '(true|false)',
  labels: String.raw`(\{(?:${STRING}:${STRING}(?:,${STRING}:${STRING})*)?\})`,
}
/** Undeclared fields of other types have no form: they may hold undeclared fields of their own. */
const UNDECLARED: Readonly<Record<string, string>> = {
  string: STRING,
  number: NUMBER,
  bigint: NUMBER,
  boolean: '(?:true|false)',
}

const OPEN_BRACKET = 0x5b
const MAX_UINT64 = 2n ** 64n - 1n
/** An integer of at most this many digits is exact in a double. */
const EXACT_DIGITS = 15
/** Longer rows are rare, and a regular expression keeps a state for each label. */
const MAX_BYTES = 64 * 1024
/** Labels and time zones repeat from row to row. At most this many different ones are kept, and no longer ones. */
const MAX_LABELS = 10_000
const MAX_LABELS_BYTES = 512

type Labels = { readonly quoted: string; readonly copied: string }
type Column = {
  readonly name: string
  readonly kind: FieldKind
  readonly isDefinition: boolean
  readonly isId: boolean
  readonly isRead: boolean
}
/** The form of a row, and the number of each field's group in it; 0 for a field that the row does not have. */
type Shape = { readonly pattern: RegExp; readonly groups: readonly number[] }

export type TemplateKind = {
  readonly declaration: Declaration
  /** The fields that are read of every row. */
  readonly readOfEach: readonly string[]
}

/** Reads the rows of one listing that look like a row before them. */
export class RowTemplate<Row> {
  readonly #fields: Fields
  readonly #columns: readonly Column[]
  readonly #TemplateRow: TemplateRows
  #shape: Shape | null = null
  readonly #labels = new Map<string, Labels>()
  readonly #texts = new Map<string, string>()
  /** One row at a time is written here. Of labels, the canonical form is the longer one, by less than half. */
  readonly #bytes = Buffer.allocUnsafe(4 * MAX_BYTES)
  /** How many good rows did not match since the shape was taken, and after how many of them another is taken. */
  #declined = 0
  #patience = 1

  constructor({ declaration: { fields, id }, readOfEach }: TemplateKind, parse: (text: Buffer) => AnyRow) {
    const definition = new Set(definitionOf(fields))
    this.#fields = fields
    this.#columns = Object.entries(fields).map(([name, { kind }]) => ({
      name,
      kind,
      isDefinition: definition.has(name),
      isId: name === id,
      isRead: name === id || readOfEach.includes(name),
    }))
    this.#TemplateRow = templateRows(this.#columns, parse)
  }

  /** Takes the shape of a good row that did not match. Each time, twice as many must not match before the next is taken. */
  learn(raw: RawRow): void {
    this.#declined += 1
    if (this.#declined < this.#patience) return
    this.#declined = 0
    this.#patience *= 2
    this.#shape = shapeOf(this.#fields, raw) ?? this.#shape
  }

  /** Returns the row in a JSON text; null if it does not match. */
  read(bytes: Buffer): TemplateRow<Row> | null {
    if (this.#shape === null || bytes.length > MAX_BYTES) return null
    if (!isUtf8(bytes)) return null
    const match = this.#shape.pattern.exec(bytes.toString('latin1'))
    if (match === null) return null

    const values: unknown[] = []
    let id = ''
    let canonical = ''
    let columns = ''
    for (let n = 0; n < this.#columns.length; n++) {
      const { kind, isDefinition, isId, isRead } = this.#columns[n] as Column
      const read = match[this.#shape.groups[n] || match.length]
      let value: unknown = null
      let quoted = ',null'
      let copied = '\t\\N'
      if (read !== undefined && kind === 'labels') {
        ;({ quoted, copied } = this.#labelsOf(read))
      } else if (read !== undefined) {
        if (kind === 'flag') value = read === 'true'
        else if (kind === 'text') value = isRead && this.#textOf(read)
        else if (read.length > EXACT_DIGITS && BigInt(read) > MAX_UINT64) return null
        else value = isRead && integerOf(read)
        quoted = kind === 'flag' ? `,${read}` : `,"${read}"`
        copied = `\t${read}`
      }
      if (isRead) values.push(value)
      if (isId) id = `${value}` // not a part of the row's text, which would be kept with it
      if (!isDefinition) continue
      canonical += quoted
      if (!isId) columns += copied
    }
    const length = this.#bytes.write(`${canonical}]${columns}`, 'latin1')
    this.#bytes[0] = OPEN_BRACKET // in place of a comma
    const end = canonical.length + 1
    const written = {
      fingerprint: fingerprint(this.#bytes.subarray(0, end)),
      columns: this.#bytes.toString('latin1', end, length),
    }
    const text: RowText = { bytes }
    return { id, row: new this.#TemplateRow(values, text) as Row, text, written }
  }

  /** Few texts of these fields differ, and each is kept once. */
  #textOf(bytes: string): string {
    const before = this.#texts.get(bytes)
    if (before !== undefined) return before
    const text = Buffer.from(bytes, 'latin1').toString()
    if (this.#texts.size >= MAX_LABELS) this.#texts.clear()
    // Of text that is not ASCII, the key would be another.
    if (text.length === bytes.length && text.length <= MAX_LABELS_BYTES) this.#texts.set(text, text)
    return text
  }

  #labelsOf(json: string): Labels {
    const before = this.#labels.get(json)
    if (before) return before
    const value = JSON.parse(Buffer.from(json, 'latin1').toString()) as Readonly<Record<string, string>>
    const labels = {
      quoted: bytesOf(`,${JSON.stringify(canonicalEntries(value))}`),
      copied: bytesOf(`\t${JSON.stringify(value)}`),
    }
    if (this.#labels.size >= MAX_LABELS) this.#labels.clear()
    if (json.length <= MAX_LABELS_BYTES) this.#labels.set(unshared(json), labels)
    return labels
  }
}

/** Returns the bytes of a text, one character each. */
function bytesOf(text: string): string {
  return Buffer.from(text).toString('latin1')
}

function integerOf(digits: string): number | bigint {
  const rounded = Number(digits)
  return Number.isSafeInteger(rounded) ? rounded : BigInt(digits)
}

type TemplateRows = new (values: readonly unknown[], text: RowText) => object

/** Returns a class of rows. Its values are those of the columns that are read; the others are read from the text once one is asked for. */
function templateRows(columns: readonly Column[], parse: (text: Buffer) => AnyRow): TemplateRows {
  class TemplateRow {
    readonly values: readonly unknown[]
    readonly text: RowText
    parsed: AnyRow | null = null

    constructor(values: readonly unknown[], text: RowText) {
      this.values = values
      this.text = text
    }
  }
  let place = 0
  for (const { name, isRead } of columns) {
    const at = isRead ? place++ : -1
    Object.defineProperty(TemplateRow.prototype, name, {
      get(this: TemplateRow) {
        if (at !== -1) return this.values[at]
        this.parsed ??= parse(this.text.bytes)
        return this.parsed[name]
      },
    })
  }
  return TemplateRow
}

/** Returns a copy: a string that was cut or joined keeps all that it was made of. */
function unshared(bytes: string): string {
  return Buffer.from(bytes, 'latin1').toString('latin1')
}

/** Returns the shape of a row, or null if it has a field without a form. Optional fields may be absent, or null. */
function shapeOf(fields: Fields, raw: RawRow): Shape | null {
  const groups = new Map<string, number>()
  let pattern = ''
  for (const [key, value] of Object.entries(raw)) {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined
    const form = field ? FORMS[field.kind] : value === null ? 'null' : UNDECLARED[typeof value]
    if (form === undefined || !/^\w+$/.test(key)) return null
    if (field) groups.set(key, groups.size + 1)
    const isFirst = pattern === ''
    const member = `${isFirst ? '' : ','}"${key}":${field?.isOptional ? `(?:null|${form})` : form}`
    pattern += field?.isOptional && !isFirst ? `(?:${member})?` : member
  }
  return {
    pattern: new RegExp(`^\\{${pattern}\\}$`),
    groups: Object.keys(fields).map(name => groups.get(name) ?? 0),
  }
}
