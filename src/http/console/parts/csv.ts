import { type Cell, type Columns, isLasting, type Part } from '#src/db/list.ts'
import { csvLine, escapeCell } from '#src/model/csv-cells.ts'

/**
 * Yields a list as CSV, a part at a time, with its columns under their names. What is read of the list is what `load` returns
 * for one place after another: each part is of its own moment. Stops with an error once `signal` aborts.
 */
export async function* csvOf<Row, Place>(
  columns: Columns<Row, string>,
  load: (after: Place | null) => Promise<Part<Row, Place>>,
  signal: AbortSignal,
): AsyncGenerator<string> {
  const cells = Object.values(columns)
  let lines = [csvLine(Object.keys(columns))]
  for (let after: Place | null = null; ; lines = []) {
    signal.throwIfAborted()
    const { rows, next } = await load(after)
    lines.push(...rows.map(row => csvLine(cells.map(cell => textOf(cell(row))))))
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
