import { fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import type { Damage } from './lines.ts'
import type { Sink } from './reader.ts'

/** So many rows, one after the other, nobody writes into a cell by chance: not into one that is read, nor into a note. */
const ROWS_IN_A_CELL = 3
const ROWS_IN_A_NOTE = 10

/** Lines that a quote encloses, with what is known of their record. */
export type Enclosed = {
  /** What follows the first line of the record, newlines included. */
  readonly text: string
  readonly firstLine: number
  /** The cell with the line breaks is not the one that is wrong. */
  readonly isNote: boolean
  /** The record ends with a fault on its last line, which would be none if that line stood alone. */
  readonly endsInFault: boolean
}

/**
 * Returns what tells whether a quote that goes on over several lines is a lone one, which has swallowed rows: if at least
 * three of four lines that it encloses are rows, complete and without a fault. If it is not, its record is somebody's text.
 */
export function openLoneQuoteTest(
  { delimiter, width, columns }: { delimiter: number; width: number; columns: readonly number[] },
  faultOf: Sink['faultOf'],
): (enclosed: Enclosed, damaged: ReadonlyMap<number, Damage>) => boolean {
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
