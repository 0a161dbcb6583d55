import { fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import { RECIPIENT } from './header.ts'
import { countIn, type Damage, LONGEST_LINE, type Sink } from './lines.ts'

/*
 * Where a record whose quotes are not escaped really ends. A cell such as `"He said "hello"` seems to end on its line. But if a
 * line below it closes a quote that was not opened on that line, the cell continues until there.
 */

const LF = 10
const CR = 13
const QUOTE = 34

/** Returns the end of the first line from `at` on that closes a quote it has not opened; null if there is none. */
export type ClosingLine = (place: {
  readonly text: string
  readonly at: number
  /** Where the text begins in the file. */
  readonly offset: number
  /** Where the damaged record begins: a record is at most as long as a line may be. */
  readonly from: number
}) => number | null

export function openClosingLineSearch(delimiter: number): ClosingLine {
  const fields = fieldsFor(0)
  /** No line between these places of the file closes one. Without this, a file with damage in every line takes quadratic time. */
  const searched = { from: 0, to: 0 }

  function closes(text: string, at: number, end: number): boolean {
    let quotes = 0
    for (
      let quote = text.indexOf('"', at);
      quote !== -1 && quote < end;
      quote = text.indexOf('"', quote + 1)
    ) {
      quotes++
      if (quotes % 2 === 0 || !isCellEnd(text, quote + 1)) continue
      if (quote === at || text.charCodeAt(quote - 1) !== delimiter) return true
    }
    return false
  }

  function isCellEnd(text: string, at: number): boolean {
    const code = text.charCodeAt(at)
    if (code === CR) return at + 1 === text.length || text.charCodeAt(at + 1) === LF
    return code === delimiter || code === LF || at === text.length
  }

  return ({ text, at, offset, from }) => {
    const limit = Math.min(text.length, from + LONGEST_LINE)
    const known = offset + at >= searched.from && offset + at < searched.to
    if (!known) searched.from = offset + at
    let place = known ? searched.to - offset : at
    let found: number | null = null
    while (place < limit) {
      const newline = text.indexOf('\n', place)
      const end = newline === -1 ? text.length : newline + 1
      const startsWithQuote = text.charCodeAt(place) === QUOTE
      const fault =
        startsWithQuote && isCellEnd(text, place + 1) ? 'closed' : scanRecord(text, place, delimiter, fields)
      const mayClose =
        fault === 'closed' ||
        fault === 'quote in a field' ||
        (startsWithQuote && fault === 'text after a quote')
      if (mayClose && closes(text, place, end)) {
        found = end <= limit ? end : null
        break
      }
      place = fault === null && fields.end <= limit ? fields.end : end
    }
    searched.to = offset + place
    return found
  }
}

/**
 * Whether the line at `at` seems to close each quote that it opens, as `"Ada "the" C",yes` does: they are even, and a cell ends with the
 * last one. `"He said "hello"` opens one more.
 */
export function closesItself(text: string, at: number, delimiter: number): boolean {
  const newline = text.indexOf('\n', at)
  const line = text.slice(at, newline === -1 ? text.length : newline).trimEnd()
  const after = line.charCodeAt(line.lastIndexOf('"') + 1)
  return countIn(line, '"', 0, line.length) % 2 === 0 && (Number.isNaN(after) || after === delimiter)
}

/** Whether the quote at `at`, inside a cell without quotes, seems to open a quotation that its line does not close. */
export function opensInside(text: string, at: number): boolean {
  const newline = text.indexOf('\n', at)
  const rest = text.slice(at, newline === -1 ? text.length : newline)
  return /[\s(:[]/.test(text.charAt(at - 1)) && /^"\w/.test(rest) && rest.split('"').length % 2 === 0
}

/** How many rows in a row no cell contains by chance: a cell that is read, and a note. */
const ROWS_IN_A_CELL = 3
const ROWS_IN_A_NOTE = 10

/** Lines that a quote encloses, and what is known about their record. */
export type Enclosed = {
  /** The text after the first line of the record, newlines included. */
  readonly text: string
  readonly firstLine: number
  /** Where they end in the file. */
  readonly endsAt: number
  /** The quotes are sound, and the cell with the line breaks is not the cell that is wrong. */
  readonly isNote: boolean
  /** The record ends with a fault on its last line. Alone, that line may be a row. */
  readonly endsInFault: boolean
}

/** `damaged`: by the number of the line. */
export type LoneQuoteTest = (enclosed: Enclosed, damaged: ReadonlyMap<number, Damage>) => boolean

/**
 * Returns a test of a quote that encloses several lines: is it a lone quote, after which rows follow? It is if at least three
 * of four enclosed lines are rows: complete, and of somebody, whatever else is wrong with them. Otherwise the enclosed lines
 * are the text of a cell.
 */
export function openLoneQuoteTest(
  { delimiter, width, columns }: { delimiter: number; width: number; columns: readonly number[] },
  faultOf: Sink['faultOf'],
): LoneQuoteTest {
  const fields = fieldsFor(width)

  function isRow(line: string): boolean {
    if (scanRecord(line, 0, delimiter, fields) !== null || fields.count !== width) return false
    const values = columns.map(column => (column === -1 ? undefined : fieldAt(line, fields, column)))
    return faultOf(values) !== RECIPIENT
  }

  /** Of the lines that were looked at last: how many of each and those after it are not blank, and are rows. Many records may end there. */
  let last = { firstLine: 0, endsAt: -1, lines: [0], rows: [0], isLastRow: false }

  function look({ text, firstLine, endsAt }: Enclosed, damaged: ReadonlyMap<number, Damage>): typeof last {
    const all = text.replace(/\n$/, '').split('\n')
    const lines = new Array<number>(all.length + 1).fill(0)
    const rows = new Array<number>(all.length + 1).fill(0)
    let isLastRow = false
    for (let n = all.length - 1; n >= 0; n--) {
      const line = all[n] as string
      const isBlank = line === '' || line === '\r'
      const isGood = !isBlank && !damaged.has(firstLine + n) && isRow(line)
      if (lines[n + 1] === 0) isLastRow = isGood
      lines[n] = (lines[n + 1] as number) + (isBlank ? 0 : 1)
      rows[n] = (rows[n + 1] as number) + (isGood ? 1 : 0)
    }
    return { firstLine, endsAt, lines, rows, isLastRow }
  }

  return (enclosed, damaged) => {
    const { firstLine, endsAt, isNote, endsInFault } = enclosed
    if (endsAt !== last.endsAt || firstLine < last.firstLine) last = look(enclosed, damaged)
    const lines = last.lines[firstLine - last.firstLine] ?? 0
    const rows = last.rows[firstLine - last.firstLine] ?? 0
    if (endsInFault && last.isLastRow && lines > 0) return true
    return rows >= (isNote ? ROWS_IN_A_NOTE : ROWS_IN_A_CELL) && 4 * rows >= 3 * lines
  }
}
