import { type Cell, isLasting, type Part } from '#src/db/list.ts'
import { csvLine, escapeCell } from '#src/model/csv-cells.ts'

/**
 * Yields a list as CSV, a part at a time, with its columns under their names. What is read of the list is what `load` returns
 * for one place after another: each part is of its own moment. Stops with an error once `signal` aborts.
 */
export async function* csvOf<Row, Place>(
  columns: (row: Row) => Readonly<Record<string, Cell>>,
  load: (after: Place | null) => Promise<Part<Row, Place>>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  let isFirst = true
  for (let after: Place | null = null; ; ) {
    signal.throwIfAborted()
    const { rows, next } = await load(after)
    const cells = rows.map(columns)
    const lines = cells.map(row => csvLine(Object.values(row).map(textOf)))
    if (isFirst && cells[0]) lines.unshift(csvLine(Object.keys(cells[0])))
    isFirst &&= lines.length === 0
    if (lines.length > 0) yield `${lines.join('\r\n')}\r\n`
    if (next === null) return
    after = next
  }
}

/** Instants in ISO 8601, durations in seconds, as `ferry report --format csv` has them. */
function textOf(cell: Cell): string {
  if (cell === null) return ''
  if (cell instanceof Date) return cell.toISOString()
  if (isLasting(cell)) return `${cell.ms / 1_000}`
  return typeof cell === 'string' ? escapeCell(cell) : `${cell}`
}
