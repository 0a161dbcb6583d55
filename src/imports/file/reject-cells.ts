/*
 * A spreadsheet runs a cell that begins with = + - @, a tab or a carriage return as a formula. In a file of rejects such
 * a cell gets a ' before it, by which a spreadsheet takes it for text; and so does one that begins with ' and goes on
 * like that, so that the ' can be taken away again whenever such a file is imported: every cell comes back as it was.
 */

const RUNS = /^'*[=+\-@\t\r]/
const ESCAPED = /^'+[=+\-@\t\r]/

/** The cell as it is safe in a spreadsheet. */
export function escapeCell(cell: string): string {
  return RUNS.test(cell) ? `'${cell}` : cell
}

/** What `escapeCell` was given. */
export function unescapeCell(cell: string): string {
  return ESCAPED.test(cell) ? cell.slice(1) : cell
}
