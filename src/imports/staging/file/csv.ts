import { fieldAt, fieldsFor, type QuoteFault, scanRecord } from './csv-record.ts'
import { type Damage, LONGEST_LINE } from './lines.ts'
import { openLoneQuoteTest } from './lone-quote.ts'
import { DAMAGE_IN_WORDS, type Reader, type Sink } from './reader.ts'
import { openClosingLineSearch, opensInside } from './written-on.ts'

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
  lone: 'a quote is opened on this line, and what it would enclose with the lines below are rows',
  'quote in a field': 'a quote stands inside a field that does not begin with one',
  'text after a quote': 'text follows a closing quote',
}

const LF = 10
const CR = 13

/**
 * Reads the records of a CSV out of its blocks, from line `firstLine` on.
 *
 * A damaged line is rejected alone. A damaged record of several lines is rejected as a whole: a line of a note in it must not
 * become a recipient because it looks like a row. But if the lines that its quote encloses are rows, it is a lone quote: then
 * only the line of the quote is damaged, and reading continues at the next line.
 */
export function openCsvReader(shape: CsvShape, firstLine: number, sink: Sink): Reader {
  const { width, columns } = shape
  const delimiter = shape.delimiter.charCodeAt(0)
  const fields = fieldsFor(width)
  const values: (string | undefined)[] = columns.map(() => undefined)
  const isLoneQuote = openLoneQuoteTest({ delimiter, width, columns }, row => sink.faultOf(row))
  const closingLine = openClosingLineSearch(delimiter)
  let line = firstLine
  /** How much of the file is before the text that is read now. */
  let offset = 0
  /** A record that began in the last block and did not end there. */
  let open = ''
  /** By the number of the line. */
  let damaged: ReadonlyMap<number, Damage> = new Map()

  /** Passes the record at `at` to the sink. Returns where the next one begins; null if more must be read first. */
  function take(text: string, at: number, isLast: boolean): number | null {
    const fault = scanRecord(text, at, delimiter, fields)
    if (fault === 'open' && !isLast && text.length - at <= LONGEST_LINE) return null
    const firstEnd = fault === null && !fields.quoted ? fields.end : lineEnd(text, at)
    let end = fault === null ? fields.end : lineEnd(text, fields.end)
    let trouble: CsvDamage | null = fault
    const mayGoOn =
      fault === 'text after a quote' || (fault === 'quote in a field' && opensInside(text, fields.end))
    if (mayGoOn && !isLast && text.length - at <= LONGEST_LINE) return null
    const faultEnd = end
    if (mayGoOn) end = writtenOnTo(text, at, end)
    if (end > firstEnd && end - at > LONGEST_LINE) {
      trouble = 'too long'
      end = Math.max(firstEnd, text.lastIndexOf('\n', at + LONGEST_LINE - 1) + 1)
    }
    const lines = end === firstEnd ? 1 : linesIn(text, at, end)
    let damage = damagedIn(lines)
    if (trouble === null && fields.count === width) loadValues(text)
    const isSound = trouble === null && damage === undefined && fields.count === width
    const wrong = lines > 1 && isSound ? sink.faultOf(values) : null
    if (lines > 1 && (!isSound || wrong !== null)) {
      const enclosed = {
        text: text.slice(firstEnd, end),
        firstLine: line + 1,
        isNote: trouble === null && (wrong === null || !String(values[wrong]).includes('\n')),
        endsInFault: trouble !== null && trouble === fault && fault !== 'open' && end === faultEnd,
      }
      if (isLoneQuote(enclosed, damaged)) {
        damage = damaged.get(line)
        leaveDamaged(damage ?? 'lone', withoutNewline(text, at, firstEnd))
        line++
        return firstEnd
      }
    }
    const raw = withoutNewline(text, at, end)
    if (isSound) sink.row(line, values, raw)
    else leaveDamaged(damage ?? trouble, raw)
    line += lines
    return end
  }

  /** Where a record with bad quotes that began at `from` ends: after `at` if lines below close it and are not rows. */
  function writtenOnTo(text: string, from: number, at: number): number {
    let end = at
    for (;;) {
      const next = closingLine({ text, at: end, offset, from })
      if (next === null) return end
      const between = {
        text: text.slice(end, next),
        firstLine: line + linesIn(text, from, end),
        isNote: false,
        endsInFault: false,
      }
      if (isLoneQuote(between, damaged)) return end
      end = next
    }
  }

  function loadValues(text: string): void {
    for (let n = 0; n < values.length; n++) {
      const column = columns[n] ?? -1
      if (column !== -1) values[n] = fieldAt(text, fields, column)
    }
  }

  function damagedIn(lines: number): Damage | undefined {
    if (damaged.size === 0) return undefined
    for (let n = line; n < line + lines; n++) if (damaged.has(n)) return damaged.get(n)
    return undefined
  }

  /** `what` is null if only the number of fields is wrong. */
  function leaveDamaged(what: Damage | CsvDamage | null, raw: string): void {
    if (what === null) {
      const message = `the line has ${fields.count} fields, the header has ${width}`
      sink.damaged(line, 'number of fields', message, raw)
    } else if (what in CSV_DAMAGE_IN_WORDS) {
      sink.damaged(line, 'quotes', CSV_DAMAGE_IN_WORDS[what as CsvDamage], raw)
    } else {
      sink.damaged(line, what, DAMAGE_IN_WORDS[what as Damage], raw)
    }
  }

  return block => {
    const text = open + block.text
    damaged = shifted(block.damaged, line + linesIn(open, 0, open.length), open === '' ? new Map() : damaged)
    open = ''
    for (let at = 0; at < text.length; ) {
      const empty = emptyLineAt(text, at)
      if (empty > 0) {
        at += empty
        line++
        continue
      }
      const next = take(text, at, block.last)
      if (next === null) {
        open = text.slice(at)
        offset += at
        return
      }
      at = next
    }
    offset += text.length
  }
}

/** The damaged lines of a block by their numbers, added to those known `before`. */
function shifted(
  block: ReadonlyMap<number, Damage>,
  by: number,
  before: ReadonlyMap<number, Damage>,
): ReadonlyMap<number, Damage> {
  if (block.size === 0) return before
  return new Map([...before, ...[...block].map(([n, damage]) => [n + by, damage] as const)])
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
  let lines = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++
  return to > from && text.charCodeAt(to - 1) !== LF ? lines + 1 : lines
}

function withoutNewline(text: string, from: number, to: number): string {
  let end = to
  if (end > from && text.charCodeAt(end - 1) === LF) end--
  if (end > from && text.charCodeAt(end - 1) === CR) end--
  return text.slice(from, end)
}
