import { fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import type { Damage, Sink } from './lines.ts'

/** How many rows in a row no cell contains by chance: a cell that is read, and a note. */
const ROWS_IN_A_CELL = 3
const ROWS_IN_A_NOTE = 10

/** Lines that a quote encloses, and what is known about their record. */
export type Enclosed = {
  /** The text after the first line of the record, newlines included. */
  readonly text: string
  readonly firstLine: number
  /** The quotes are sound, and the cell with the line breaks is not the cell that is wrong. */
  readonly isNote: boolean
  /** The record ends with a fault on its last line. Alone, that line may be a row. */
  readonly endsInFault: boolean
}

/** `damaged`: by the number of the line. */
export type LoneQuoteTest = (enclosed: Enclosed, damaged: ReadonlyMap<number, Damage>) => boolean

/**
 * Returns a test of a quote that encloses several lines: is it a lone quote, after which rows follow? It is if at least three
 * of four enclosed lines are complete rows without a fault. Otherwise the enclosed lines are the text of a cell.
 */
export function openLoneQuoteTest(
  { delimiter, width, columns }: { delimiter: number; width: number; columns: readonly number[] },
  faultOf: Sink['faultOf'],
): LoneQuoteTest {
  const fields = fieldsFor(width)

  function isRow(line: string): boolean {
    if (scanRecord(line, 0, delimiter, fields) !== null || fields.count !== width) return false
    return (
      faultOf(columns.map(column => (column === -1 ? undefined : fieldAt(line, fields, column)))) === null
    )
  }

  return ({ text, firstLine, isNote, endsInFault }, damaged) => {
    let lines = 0
    let rows = 0
    let isLastRow = false
    for (const [n, line] of text.replace(/\n$/, '').split('\n').entries()) {
      if (line === '' || line === '\r') continue
      lines++
      isLastRow = !damaged.has(firstLine + n) && isRow(line)
      if (isLastRow) rows++
    }
    if (endsInFault && isLastRow) return true
    return rows >= (isNote ? ROWS_IN_A_NOTE : ROWS_IN_A_CELL) && 4 * rows >= 3 * lines
  }
}
