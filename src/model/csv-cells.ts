/*
 * A line of CSV, as RFC 4180 has it.
 *
 * A spreadsheet runs a cell as a formula if it begins with = + - @, a tab or a carriage return. Such a
 * cell gets a ' in front, which makes it text. A cell that has a ' in front of such a character already gets one more. So
 * an import of a file of rejects can take one ' away, and every cell is again what it was.
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

/** Returns cells as a line, without its end. Text of others is to be escaped before. */
export function csvLine(cells: readonly string[]): string {
  return cells.map(quoted).join(',')
}

function quoted(text: string): string {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
