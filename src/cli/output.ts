import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { styleText } from 'node:util'
import type Table from 'cli-table3'
import { fittingWidths, tableWidth, wrapped } from './wrap.ts'

const require = createRequire(import.meta.url)

export type Cell = string | number | bigint | boolean | Date | null

const GAP = '  '

const NO_BORDERS = Object.fromEntries(
  ['top', 'bottom', 'left', 'right', 'mid'].flatMap(side => [
    [side, ''],
    [`${side}-mid`, ''],
    [`${side}-left`, ''],
    [`${side}-right`, ''],
  ]),
)

/** Prints one result as one line of JSON: ids (bigint) as strings, instants in ISO 8601. */
export function printJson(result: object): void {
  print(jsonOf(result))
}

export function jsonOf(result: object): string {
  return JSON.stringify(result, (_, value) => (typeof value === 'bigint' ? value.toString() : value))
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints any number of lines no faster than they are read; false once nobody reads any more. */
export async function writeLines(lines: readonly string[]): Promise<boolean> {
  const { stdout } = process
  if (stdout.destroyed) return false
  if (!stdout.write(`${lines.join('\n')}\n`) && !stdout.destroyed) {
    const { promise, resolve } = Promise.withResolvers<void>()
    stdout.once('drain', resolve).once('close', resolve)
    await promise
    stdout.off('drain', resolve).off('close', resolve)
  }
  return !stdout.destroyed
}

/** Prints what goes along with a result but is none, on stderr. */
export function printAside(line: string): void {
  process.stderr.write(`${line}\n`)
}

/**
 * Prints a table without borders, numbers to the right; `none` is said if it has no rows. On a terminal it is made to fit:
 * the last column, in which there are sentences if there are any, goes on over several lines.
 */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[], none: string): void {
  if (rows.length === 0) {
    print(none)
    return
  }
  print(tableOf(head, rows, process.stdout.isTTY ? columnsShown() : null))
}

/** The table as text. In a terminal its words go on below each other, where they fit so; nothing is ever cut. */
export function tableOf(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns: number | null,
): string {
  // Only what prints a table waits for it to load.
  const TableOf: typeof Table = require('cli-table3')
  const numbers = head.map((_, column) => rows.every(row => isNumber(row[column])))
  const cells = rows.map(row => row.map(cellText))
  const widths = columns === null ? null : fittingWidths([head, ...cells], columns)
  const table = new TableOf({
    head: head.map(emphasised),
    colAligns: numbers.map(number => (number ? 'right' : 'left')),
    chars: { ...NO_BORDERS, middle: GAP },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of cells) {
    table.push(widths ? row.map((text, n) => wrapped(text, widths[n] ?? 0).join('\n')) : row)
  }
  return table.toString().replaceAll(/ +$/gm, '')
}

/** Whether a table can be shown as it is: to a program, or at a terminal wide enough. */
export function fits(head: readonly string[], rows: readonly (readonly Cell[])[]): boolean {
  return !process.stdout.isTTY || tableWidth([head, ...rows.map(row => row.map(cellText))]) <= columnsShown()
}

export function columnsShown(): number {
  return process.stdout.columns || 80
}

/** Bold on a terminal, unless NO_COLOR says otherwise. */
export function emphasised(text: string): string {
  return coloured('bold', text)
}

export function coloured(style: 'bold' | 'green' | 'yellow' | 'red', text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Text of the platform may hold anything; control characters would reach the terminal as commands. */
export function harmless(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu, '\ufffd')
}

/** An instant as people read it, in UTC, to the second. */
export function instant(at: Date | null): string {
  return at === null ? '' : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** `1,234`, whatever the language of the machine. */
export function count(number: number): string {
  return number.toLocaleString('en-US')
}

/** `1 row`, `1,234 rows`. */
export function counted(number: number, thing: string, things = `${thing}s`): string {
  return `${count(number)} ${number === 1 ? thing : things}`
}

/** `340 ms`, `2.1 s`, `3 min 5 s`, `6 h`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  if (ms < 60_000) return `${Number((ms / 1_000).toFixed(1))} s`
  const [whole, unit, rest, restUnit] =
    ms < 3_600_000 ? [60_000, 'min', 1_000, 's'] : [3_600_000, 'h', 60_000, 'min']
  const left = Math.floor((ms % whole) / rest)
  return `${Math.floor(ms / whole)} ${unit}${left === 0 ? '' : ` ${left} ${restUnit}`}`
}

/** A path as short as it can be typed here. */
export function shownPath(path: string): string {
  const fromHere = relative('', path)
  return fromHere.startsWith('..') ? path : fromHere
}

function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || cell === null
}

/** A value as a table shows it. */
export function cellText(cell: Cell): string {
  if (cell instanceof Date) return instant(cell)
  if (typeof cell === 'number') return count(cell)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  return harmless(String(cell ?? ''))
}
