import { counted } from '#src/model/counted.ts'
import { type Fields, fieldAt, fieldsFor, type QuoteFault, scanRecord } from './csv-record.ts'
import {
  type Block,
  countIn,
  DAMAGE_IN_WORDS,
  type Damage,
  LONGEST_LINE,
  type Reader,
  type Sink,
} from './lines.ts'
import {
  type ClosingLine,
  closesItself,
  type LoneQuoteTest,
  openClosingLineSearch,
  openLoneQuoteTest,
  opensInside,
} from './quotes.ts'

export type Delimiter = ',' | ';' | '\t'

export type CsvShape = {
  readonly delimiter: Delimiter
  /** How many fields a row has. */
  readonly width: number
  /** By field asked for: in which column it is, or -1. */
  readonly columns: readonly number[]
}

type CsvDamage = QuoteFault | 'too long' | 'lone'

const CSV_DAMAGE_IN_WORDS: Readonly<Record<CsvDamage, string>> = {
  open: 'a quote is opened on this line and never closed',
  'too long': `a quote is opened on this line and not closed within ${LONGEST_LINE} characters`,
  lone: 'a quote is opened on this line and not closed before the rows below',
  'quote in a field': 'a field that does not begin with a quote contains one',
  'text after a quote': 'text follows a closing quote',
}

const LF = 10
const CR = 13

/** A record that was scanned. */
type CsvRecord = {
  /** Where its first line ends, and where it does. */
  readonly firstEnd: number
  readonly end: number
  /** What is wrong with its quotes, or with its length. */
  readonly trouble: CsvDamage | null
  readonly endsInFault: boolean
}

/**
 * Reads the records of a CSV out of its blocks, from line `firstLine` on.
 *
 * A damaged line is rejected alone. A damaged record of several lines is rejected as a whole: a line of a note in it must not
 * become a recipient because it looks like a row. But if the lines that its quote encloses are rows, it is a lone quote: then
 * only the line of the quote is damaged, and reading continues at the next line.
 */
export class CsvReader implements Reader {
  readonly #shape: CsvShape
  readonly #sink: Sink
  readonly #delimiter: number
  readonly #fields: Fields
  readonly #values: (string | undefined)[]
  readonly #isLoneQuote: LoneQuoteTest
  readonly #closingLine: ClosingLine
  /** The line of the next record. */
  #line: number
  /** How much of the file is before the text that is read now. */
  #offset = 0
  /** A record that began in the last block and did not end there. */
  #open = ''
  /** By the number of the line. */
  #damaged: ReadonlyMap<number, Damage> = new Map()

  constructor(shape: CsvShape, firstLine: number, sink: Sink) {
    const { width, columns } = shape
    const delimiter = shape.delimiter.charCodeAt(0)
    this.#shape = shape
    this.#sink = sink
    this.#delimiter = delimiter
    this.#fields = fieldsFor(width)
    this.#values = columns.map(() => undefined)
    this.#isLoneQuote = openLoneQuoteTest({ delimiter, width, columns }, row => sink.faultOf(row))
    this.#closingLine = openClosingLineSearch(delimiter)
    this.#line = firstLine
  }

  read(block: Block): void {
    const text = this.#open + block.text
    this.#damaged = this.#damagedFrom(block)
    this.#open = ''
    for (let at = 0; at < text.length; ) {
      const empty = emptyLineAt(text, at)
      if (empty > 0) {
        at += empty
        this.#line++
        continue
      }
      const next = this.#take(text, at, block.last)
      if (next === null) {
        this.#open = text.slice(at)
        this.#offset += at
        return
      }
      at = next
    }
    this.#offset += text.length
  }

  /** The damaged lines of the record that is open, and of the block that follows, by their numbers. */
  #damagedFrom({ damaged }: Block): ReadonlyMap<number, Damage> {
    const open = [...this.#damaged].filter(([line]) => line >= this.#line)
    const by = this.#line + linesIn(this.#open, 0, this.#open.length)
    return new Map([...open, ...[...damaged].map(([n, damage]) => [n + by, damage] as const)])
  }

  /** Passes the record at `at` to the sink. Returns where the next one begins; null if more must be read first. */
  #take(text: string, at: number, isLast: boolean): number | null {
    const fields = this.#fields
    const record = this.#scan(text, at, isLast)
    if (record === null) return null
    const { firstEnd, end, trouble } = record
    const lines = end === firstEnd ? 1 : linesIn(text, at, end)
    const damage = this.#damagedIn(lines)
    const hasValues = trouble === null && fields.count === this.#shape.width
    if (hasValues) this.#loadValues(text)
    const isSound = hasValues && damage === undefined
    if (lines > 1 && this.#beginsWithLoneQuote(text, record, isSound)) {
      this.#leave(this.#damaged.get(this.#line) ?? 'lone', withoutNewline(text, at, firstEnd))
      this.#line++
      return firstEnd
    }
    const raw = withoutNewline(text, at, end)
    if (isSound) this.#sink.row(this.#line, this.#values, raw)
    else this.#leave(damage ?? trouble, raw)
    this.#line += lines
    return end
  }

  /** Returns null if more must be read to know where the record ends. */
  #scan(text: string, at: number, isLast: boolean): CsvRecord | null {
    const fields = this.#fields
    const fault = scanRecord(text, at, this.#delimiter, fields)
    if (fault === null) {
      const firstEnd = fields.quoted ? lineEnd(text, at) : fields.end
      return cutOff(text, at, { firstEnd, end: fields.end, trouble: null, endsInFault: false })
    }
    const mayWait = !isLast && text.length - at <= LONGEST_LINE
    if (fault === 'open' && mayWait) return null
    const mayGoOn =
      (fault === 'text after a quote' && !closesItself(text, at, this.#delimiter)) ||
      (fault === 'quote in a field' && opensInside(text, fields.end))
    if (mayGoOn && mayWait) return null
    const faultEnd = lineEnd(text, fields.end)
    const end = mayGoOn ? this.#writtenOnTo(text, at, faultEnd) : faultEnd
    const endsInFault = fault !== 'open' && end === faultEnd
    return cutOff(text, at, { firstEnd: lineEnd(text, at), end, trouble: fault, endsInFault })
  }

  /**
   * Where a record with bad quotes that began at `from` ends: after `at`, if lines below close its cell and are not rows, until its
   * quotes are even or a row follows.
   */
  #writtenOnTo(text: string, from: number, at: number): number {
    let end = at
    let line = this.#line + linesIn(text, from, at)
    let quotes = countIn(text, '"', from, at)
    for (;;) {
      const next = this.#closingLine({ text, at: end, offset: this.#offset, from })
      if (next === null || this.#areRows(text, end, next, line, false)) return end
      line += linesIn(text, end, next)
      quotes += countIn(text, '"', end, next)
      end = next
      if (quotes % 2 === 0 || this.#areRows(text, end, lineEnd(text, end), line, true)) return end
    }
  }

  /** Whether the lines between two places, after a record with bad quotes, are rows. */
  #areRows(text: string, from: number, to: number, firstLine: number, endsInFault: boolean): boolean {
    const endsAt = this.#offset + to
    const lines = { text: text.slice(from, to), firstLine, endsAt, isNote: false, endsInFault }
    return this.#isLoneQuote(lines, this.#damaged)
  }

  /** Whether a record of several lines is a line with a lone quote, and rows. */
  #beginsWithLoneQuote(
    text: string,
    { firstEnd, end, trouble, endsInFault }: CsvRecord,
    isSound: boolean,
  ): boolean {
    const wrong = isSound ? this.#sink.faultOf(this.#values) : null
    if (isSound && wrong === null) return false
    const enclosed = {
      text: text.slice(firstEnd, end),
      firstLine: this.#line + 1,
      endsAt: this.#offset + end,
      isNote: trouble === null && (wrong === null || !String(this.#values[wrong]).includes('\n')),
      endsInFault,
    }
    return this.#isLoneQuote(enclosed, this.#damaged)
  }

  #loadValues(text: string): void {
    const values = this.#values
    for (let n = 0; n < values.length; n++) {
      const column = this.#shape.columns[n] ?? -1
      if (column !== -1) values[n] = fieldAt(text, this.#fields, column)
    }
  }

  #damagedIn(lines: number): Damage | undefined {
    if (this.#damaged.size === 0) return undefined
    for (let n = this.#line; n < this.#line + lines; n++) {
      if (this.#damaged.has(n)) return this.#damaged.get(n)
    }
    return undefined
  }

  /** `what` is null if only the number of fields is wrong. */
  #leave(what: Damage | CsvDamage | null, raw: string): void {
    if (what === null) {
      const message = `the line has ${counted(this.#fields.count, 'field')}, the header has ${this.#shape.width}`
      this.#sink.damaged(this.#line, 'number of fields', message, raw)
    } else if (what in CSV_DAMAGE_IN_WORDS) {
      this.#sink.damaged(this.#line, 'quotes', CSV_DAMAGE_IN_WORDS[what as CsvDamage], raw)
    } else {
      this.#sink.damaged(this.#line, what, DAMAGE_IN_WORDS[what as Damage], raw)
    }
  }
}

/** A record of several lines that is longer than a line may be is damaged, and ends with the last line that fits. */
function cutOff(text: string, at: number, record: CsvRecord): CsvRecord {
  const { firstEnd, end } = record
  if (end <= firstEnd || end - at <= LONGEST_LINE) return record
  const fitting = text.lastIndexOf('\n', at + LONGEST_LINE - 1) + 1
  return { firstEnd, end: Math.max(firstEnd, fitting), trouble: 'too long', endsInFault: false }
}

/** Where the line that holds the place `at` ends, newline included. */
function lineEnd(text: string, at: number): number {
  const newline = text.indexOf('\n', at)
  return newline === -1 ? text.length : newline + 1
}

/** How long the line at `at` is, newline included, if there is nothing on it; else 0. */
function emptyLineAt(text: string, at: number): number {
  if (text.charCodeAt(at) === LF) return 1
  return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 0
}

function linesIn(text: string, from: number, to: number): number {
  const lines = countIn(text, '\n', from, to)
  return to > from && text.charCodeAt(to - 1) !== LF ? lines + 1 : lines
}

function withoutNewline(text: string, from: number, to: number): string {
  let end = to
  if (end > from && text.charCodeAt(end - 1) === LF) end--
  if (end > from && text.charCodeAt(end - 1) === CR) end--
  return text.slice(from, end)
}
