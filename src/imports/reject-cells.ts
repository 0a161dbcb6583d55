/*
 * A spreadsheet runs a cell as a formula if it begins with = + - @, a tab or a carriage return. In a file of rejects such a
 * cell gets a ' in front, which makes it text. A cell that has a ' in front of such a character already gets one more. So
 * an import of the file can take one ' away, and every cell is again what it was.
 */

const RUNS = /^'*[=+\-@\t\r]/
const ESCAPED = /^'+[=+\-@\t\r]/

/** Returns the cell in the form that no spreadsheet runs. */
export function escapeCell(cell: string): string {
  return RUNS.test(cell) ? `'${cell}` : cell
}

/** Undoes `escapeCell`. */
export function unescapeCell(cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell
}
