import type { Cell } from '#src/db/list.ts'
import { fieldsFrom } from '#src/inventory/history/differences.ts'
import { csvLine, escapeCell } from '#src/model/csv-cells.ts'
import { duration } from '#src/model/duration.ts'
import { jsonOf } from '#src/model/json-text.ts'
import { parseLossless, stringifyLossless } from '#src/platform/lossless-json.ts'
import type { Interval, JsonText, ReportCell } from '#src/reports/run-report.ts'
import { asPrinted, printTable, writeLines } from './output.ts'

export const FORMATS = ['table', 'csv', 'json'] as const
export type Format = (typeof FORMATS)[number]

/** How many rows are written at a time. */
const PART = 1_000

/** Prints rows as a table for people, as CSV with a header, or as one JSON object a line. `none` is for people. */
export async function printRows(
  columns: readonly string[],
  rows: readonly (readonly ReportCell[])[],
  format: Format,
  none: string,
): Promise<void> {
  if (format === 'table')
    return printTable(
      columns,
      rows.map(row => row.map(tableCell)),
      none,
    )
  if (format === 'csv')
    return await printLines([csvLine(columns), ...rows.map(row => asPrinted(csvLine(row.map(csvCell))))])
  await printLines(
    rows.map(row => jsonOf(Object.fromEntries(columns.map((name, n) => [name, jsonCell(row[n])])))),
  )
}

async function printLines(lines: readonly string[]): Promise<void> {
  for (let from = 0; from < lines.length; from += PART) {
    if (!(await writeLines(lines.slice(from, from + PART)))) return
  }
}

function tableCell(cell: ReportCell): Cell {
  if (isList(cell)) return cell.join(', ')
  if (isInterval(cell))
    return cell.intervalMs < 0 ? `-${duration(-cell.intervalMs)}` : duration(cell.intervalMs)
  if (typeof cell === 'number' && !Number.isInteger(cell)) return Number(cell.toPrecision(4))
  return isJson(cell) ? cell.json : cell
}

function jsonCell(cell: ReportCell | undefined): unknown {
  if (isInterval(cell)) return cell.intervalMs / 1_000
  if (!isJson(cell)) return cell
  return cell.json.startsWith('{') ? fieldsFrom(cell.json) : parseLossless(cell.json)
}

/** Text that a spreadsheet would run gets a ' in front, as in files of rejects. */
function csvCell(cell: ReportCell): string {
  if (cell === null) return ''
  if (cell instanceof Date) return cell.toISOString()
  if (isInterval(cell)) return `${cell.intervalMs / 1_000}`
  if (isJson(cell)) return cell.json
  if (isList(cell)) return stringifyLossless(cell)
  return typeof cell === 'string' ? escapeCell(cell) : `${cell}`
}

function isList(cell: ReportCell | undefined): cell is readonly (string | null)[] {
  return Array.isArray(cell)
}

function isInterval(cell: ReportCell | undefined): cell is Interval {
  return isObject(cell) && 'intervalMs' in cell
}

function isJson(cell: ReportCell | undefined): cell is JsonText {
  return isObject(cell) && 'json' in cell
}

function isObject(cell: ReportCell | undefined): cell is Interval | JsonText {
  return typeof cell === 'object' && cell !== null && !Array.isArray(cell) && !(cell instanceof Date)
}
