import { isUtf8 } from 'node:buffer'
import { type AnyRow, type Declaration, definitionOf, type FieldKind } from '#src/model/fields.ts'
import { canonicalEntries, fingerprint } from '#src/model/fingerprint.ts'
import { CLOSE_BRACKET, COMMA, LETTER_T, OPEN_BRACKET, QUOTE } from './ascii.ts'
import { ByteWriter } from './byte-writer.ts'
import type { RawRow } from './declared.ts'
import { PlainLabels } from './plain-labels.ts'
import { PlainMembers } from './plain-members.ts'
import { integerIn, NULL as NULL_COLUMN, type WrittenRow, writeColumn } from './written-row.ts'

/*
 * Most rows of a listing are plain: JSON without spaces between its parts and without escapes in its strings. Such a row is taken
 * apart where it lies in the body, in half of the time that parsing, checking and writing it takes.
 *
 * Its members are found only if the text is valid JSON, every type is right, and no field is there that the rows before it did
 * not have. A string without backslash and control character is its own JSON and its own text, so its bytes go from the body to
 * the fingerprint and to Postgres without being decoded. Whatever is not plain is read by `parseRow`, and both give the
 * same row.
 */

/** The text of a row: a part of the chunk that it came in, until it is replaced by a copy. */
export type RowText = { bytes: Buffer }

/** A row as it was read. Fields that are not needed of every row are parsed when the first of them is asked for. */
export type PlainRow<Row> = {
  readonly id: string
  readonly row: Row
  readonly text: RowText
  readonly written: WrittenRow
}

/** The fields that are read of every plain row, the id among them, and those that are read besides if it is new or changed. */
export type PlainFields = { readonly ofEach: readonly string[]; readonly ofChanged: readonly string[] }

type Column = { readonly name: string; readonly kind: FieldKind; readonly field: number }

const NULL = Buffer.from('null')

/** Longer rows are rare. Of labels the canonical form is longer than the JSON, by less than half. */
const MAX_BYTES = 64 * 1024
const MAX_WRITTEN_BYTES = 2 * MAX_BYTES
/** To sort longer ones, the parser is quicker. */
const MAX_LABELS_BYTES = 4 * 1024
/** Time zones and cron patterns repeat from row to row. At most this many different texts are kept, and no longer ones. */
const MAX_KEPT = 10_000
const MAX_KEPT_BYTES = 512

/** Reads the plain rows of one listing. */
export class PlainRows<Row> {
  readonly #members: PlainMembers
  readonly #id: string
  readonly #ofEach: readonly Column[]
  readonly #ofChanged: readonly Column[]
  readonly #definition: readonly Column[]
  readonly #RowOfText: RowOfText
  readonly #labels = new PlainLabels()
  readonly #texts = new Map<string, string>()
  readonly #written = new ByteWriter(MAX_WRITTEN_BYTES)

  constructor(
    { fields, id }: Declaration,
    { ofEach, ofChanged }: PlainFields,
    parse: (text: Buffer) => AnyRow,
  ) {
    const columns = Object.entries(fields).map(([name, { kind }], field) => ({ name, kind, field }))
    const columnsOf = (names: readonly string[]) => columns.filter(({ name }) => names.includes(name))
    this.#members = new PlainMembers(fields)
    this.#id = id
    this.#ofEach = columnsOf(ofEach)
    this.#ofChanged = columnsOf(ofChanged)
    this.#definition = columnsOf(definitionOf(fields))
    this.#RowOfText = rowOfText(Object.keys(fields), this.#ofEach, this.#ofChanged, {
      parse,
      readAgain: text => {
        if (!this.#members.find(text)) throw new Error('a row that was plain is not plain any more')
        return this.#readMore(text)
      },
    })
  }

  /** Takes the undeclared fields of a row that was parsed: plain rows may have them too. */
  learn(raw: RawRow): void {
    this.#members.learn(raw)
  }

  /**
   * Returns the row in a JSON text; null if it is not plain. What only changed rows need is read at once if it `isNew`, else when it
   * is asked for.
   */
  read(bytes: Buffer, isNew: boolean): PlainRow<Row> | null {
    if (bytes.length > MAX_BYTES || !this.#members.find(bytes) || !isUtf8(bytes)) return null
    const text: RowText = { bytes }
    const values = this.#valuesOf(this.#ofEach, bytes)
    const row = new this.#RowOfText(text, values, isNew ? this.#readMore(bytes) : null)
    const written = { fingerprint: this.#fingerprintOf(bytes), columns: () => row.more.columns }
    return { id: `${(row as unknown as AnyRow)[this.#id]}`, row: row as Row, text, written }
  }

  #readMore(bytes: Buffer): More {
    return { values: this.#valuesOf(this.#ofChanged, bytes), columns: this.#columnsOf(bytes) }
  }

  #valuesOf(columns: readonly Column[], bytes: Buffer): unknown[] {
    // Not pushed: there would be room for 17 of them.
    const values: unknown[] = new Array(columns.length)
    for (let n = 0; n < columns.length; n++) {
      const { kind, field } = columns[n] as Column
      const from = this.#members.from[field] as number
      const to = this.#members.to[field] as number
      if (from === -1) values[n] = null
      else if (kind === 'text') values[n] = this.#textOf(bytes.toString('latin1', from + 1, to - 1))
      else values[n] = kind === 'flag' ? bytes[from] === LETTER_T : integerIn(bytes, from, to)
    }
    return values
  }

  /** The canonical form is that of `fingerprint.ts`, byte for byte. */
  #fingerprintOf(bytes: Buffer): string {
    const written = this.#written
    written.length = 0
    for (const { kind, field } of this.#definition) {
      const from = this.#members.from[field] as number
      const to = this.#members.to[field] as number
      const isInteger = kind === 'uint64' || kind === 'int64'
      written.put(written.length === 0 ? OPEN_BRACKET : COMMA)
      if (from === -1) written.add(NULL, 0, NULL.length)
      else if (kind === 'labels') this.#writeLabels(bytes, from, to)
      else {
        if (isInteger) written.put(QUOTE)
        written.add(bytes, from, to)
        if (isInteger) written.put(QUOTE)
      }
    }
    written.put(CLOSE_BRACKET)
    return fingerprint(written.bytes.subarray(0, written.length))
  }

  #columnsOf(bytes: Buffer): string {
    const written = this.#written
    written.length = 0
    for (const { kind, field } of this.#definition) {
      const from = this.#members.from[field] as number
      const to = this.#members.to[field] as number
      if (from === -1) written.int32(NULL_COLUMN)
      else if (kind === 'text') writeColumn(written, kind, bytes, from + 1, to - 1)
      else writeColumn(written, kind, bytes, from, to)
    }
    return written.bytes.toString('latin1', 0, written.length)
  }

  #writeLabels(bytes: Buffer, from: number, to: number): void {
    if (to - from <= MAX_LABELS_BYTES && this.#labels.write(bytes, from, this.#written)) return
    const labels = JSON.parse(bytes.toString('utf8', from, to)) as Readonly<Record<string, string>>
    const json = Buffer.from(JSON.stringify(canonicalEntries(labels)))
    this.#written.add(json, 0, json.length)
  }

  /** Few texts of the fields that are read of each row differ, and each is kept once. */
  #textOf(bytes: string): string {
    const before = this.#texts.get(bytes)
    if (before !== undefined) return before
    const text = Buffer.from(bytes, 'latin1').toString()
    if (this.#texts.size >= MAX_KEPT) this.#texts.clear()
    // Of text that is not ASCII, the key would be another.
    if (text.length === bytes.length && text.length <= MAX_KEPT_BYTES) this.#texts.set(text, text)
    return text
  }
}

/** What is read of rows that are new or changed. */
type More = { readonly values: readonly unknown[]; readonly columns: string }

type RowOfText = new (text: RowText, values: readonly unknown[], more: More | null) => { readonly more: More }

/** Returns a class of rows with these fields. What was not read yet is read from the text, and fields in neither list are parsed. */
function rowOfText(
  fields: readonly string[],
  ofEach: readonly Column[],
  ofChanged: readonly Column[],
  { readAgain, parse }: { readAgain: (text: Buffer) => More; parse: (text: Buffer) => AnyRow },
): RowOfText {
  class Row {
    readonly #text: RowText
    readonly #values: readonly unknown[]
    #more: More | null
    #parsed: AnyRow | null = null

    constructor(text: RowText, values: readonly unknown[], more: More | null) {
      this.#text = text
      this.#values = values
      this.#more = more
    }

    get more(): More {
      this.#more ??= readAgain(this.#text.bytes)
      return this.#more
    }

    static read(row: Row, name: string, at: number, atMore: number): unknown {
      if (at !== -1) return row.#values[at]
      if (atMore !== -1) return row.more.values[atMore]
      row.#parsed ??= parse(row.#text.bytes)
      return row.#parsed[name]
    }
  }
  for (const name of fields) {
    const isIt = (column: Column) => column.name === name
    const [at, atMore] = [ofEach.findIndex(isIt), ofChanged.findIndex(isIt)]
    Object.defineProperty(Row.prototype, name, {
      get(this: Row) {
        return Row.read(this, name, at, atMore)
      },
    })
  }
  return Row
}
