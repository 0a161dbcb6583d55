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

/** A row as the template reads it. */
export type TemplateRow<Row> = {
  readonly id: string
  /** Its fields are read from the text when they are asked for. */
  readonly row: Row
  readonly text: RowText
  readonly fingerprint: string
  /** See `GoodRow.keep`. To be called once at most. */
  keep(): string
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

/** What is matched of each column, of labels their COPY text; undefined is null. */
type Texts = (string | undefined)[]
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
  /** One row at a time is written here. The canonical form of labels is longer than their text, by less than half. */
  readonly #bytes = Buffer.allocUnsafe(2 * MAX_BYTES)
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
    const valueAs = (kind: FieldKind, text: string | undefined) => this.#valueOf(kind, text)
    this.#TemplateRow = templateRows(this.#columns, valueAs, parse)
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

    const texts: Texts = []
    let id = ''
    let canonical = ''
    for (let n = 0; n < this.#columns.length; n++) {
      const { kind, isDefinition, isId } = this.#columns[n] as Column
      let text = match[this.#shape.groups[n] || match.length]
      let quoted = ',null'
      if (text !== undefined) {
        if (isId) id = `${integerOf(text)}` // not a part of the row's text, which would be kept with it
        if (kind === 'labels') ({ quoted, copied: text } = this.#labelsOf(text))
        else if (kind === 'flag') quoted = `,${text}`
        else if (kind !== 'text' && text.length > EXACT_DIGITS && BigInt(text) > MAX_UINT64) return null
        else quoted = `,"${text}"`
      }
      texts.push(text)
      if (isDefinition) canonical += quoted
    }
    const length = this.#bytes.write(`${canonical}]`, 'latin1')
    this.#bytes[0] = OPEN_BRACKET // in place of a comma
    const text: RowText = { bytes }
    const row = new this.#TemplateRow(texts, text)
    const keep = () => {
      row.keep(this.#columns.map(({ kind, isRead }, n) => (isRead ? this.#valueOf(kind, texts[n]) : null)))
      return this.#columnsOf(texts)
    }
    return { id, row: row as Row, text, fingerprint: fingerprint(this.#bytes.subarray(0, length)), keep }
  }

  #columnsOf(texts: Texts): string {
    let columns = ''
    for (let n = 0; n < this.#columns.length; n++) {
      const { isDefinition, isId } = this.#columns[n] as Column
      if (isDefinition && !isId) columns += `\t${texts[n] ?? '\\N'}`
    }
    return unshared(columns)
  }

  #valueOf(kind: FieldKind, text: string | undefined): unknown {
    if (text === undefined) return null
    if (kind === 'flag') return text === 'true'
    return kind === 'text' ? this.#textOf(text) : integerOf(text)
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
      copied: bytesOf(JSON.stringify(value)),
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

type TemplateRows = new (texts: Texts, text: RowText) => { keep(values: readonly unknown[]): void }

/**
 * Returns a class of rows. The columns that are read of each come from what was matched until the row is kept, then from
 * `values`; the others are parsed once one of them is asked for.
 */
function templateRows(
  columns: readonly Column[],
  valueAs: (kind: FieldKind, text: string | undefined) => unknown,
  parse: (text: Buffer) => AnyRow,
): TemplateRows {
  class TemplateRow {
    matched: Texts | null
    values: readonly unknown[] = []
    readonly text: RowText
    parsed: AnyRow | null = null

    constructor(matched: Texts, text: RowText) {
      this.matched = matched
      this.text = text
    }

    keep(values: readonly unknown[]): void {
      this.matched = null // else all of the row's text would be kept with it
      this.values = values
    }
  }
  for (const [n, { name, kind, isRead }] of columns.entries()) {
    Object.defineProperty(TemplateRow.prototype, name, {
      get(this: TemplateRow) {
        if (isRead) return this.matched === null ? this.values[n] : valueAs(kind, this.matched[n])
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
