import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { styleText } from 'node:util'
import type Table from 'cli-table3'

const require = createRequire(import.meta.url)

export type Cell = string | number | bigint | boolean | Date | null

/** On a terminal, longer cells are cut, but for those of the last column: a table that wraps is none. */
const WIDEST_CELL = 60

/** So much the last column gets on a terminal, however little is left for it. */
const NARROWEST_LAST = 24

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
  print(JSON.stringify(result, (_, value) => (typeof value === 'bigint' ? value.toString() : value)))
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
  // Only what prints a table waits for it to load.
  const TableOf: typeof Table = require('cli-table3')
  const numbers = head.map((_, column) => rows.every(row => isNumber(row[column])))
  const table = new TableOf({
    head: head.map(emphasised),
    colAligns: numbers.map(number => (number ? 'right' : 'left')),
    chars: { ...NO_BORDERS, middle: GAP },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  table.push(...fitted(head, rows))
  print(table.toString().replaceAll(/ +$/gm, ''))
}

/** Whether a table can be shown as it is: to a program, or at a terminal wide enough. */
export function fits(head: readonly string[], rows: readonly (readonly Cell[])[]): boolean {
  return !process.stdout.isTTY || widthOf(head, rows.map(cut)) <= columnsShown()
}

/** The lines of `text`, none longer than `width`; a word is broken only if it is. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ')) {
    if (line !== '' && line.length + 1 + word.length > width) {
      lines.push(line)
      line = ''
    }
    line += line === '' ? word : ` ${word}`
    for (; line.length > width; line = line.slice(width)) lines.push(line.slice(0, width))
  }
  return [...lines, line]
}

export function columnsShown(): number {
  return process.stdout.columns || 80
}

function fitted(head: readonly string[], rows: readonly (readonly Cell[])[]): string[][] {
  if (!process.stdout.isTTY) return rows.map(row => row.map(cellText))
  const cells = rows.map(cut)
  const room = columnsShown() - widthOf(head.slice(0, -1), cells) - GAP.length
  const last = Math.max(room, NARROWEST_LAST)
  return cells.map(row => [...row.slice(0, -1), wrapped(row.at(-1) ?? '', last).join('\n')])
}

function cut(row: readonly Cell[]): string[] {
  return row.map((cell, index) => {
    const text = cellText(cell)
    const isTooWide = text.length > WIDEST_CELL && index < row.length - 1
    return isTooWide ? `${text.slice(0, WIDEST_CELL - 1)}…` : text
  })
}

/** How wide the columns of `head` are, together. */
function widthOf(head: readonly string[], rows: readonly (readonly string[])[]): number {
  const widths = head.map((name, column) =>
    rows.reduce((width, row) => Math.max(width, row[column]?.length ?? 0), name.length),
  )
  return widths.reduce((sum, width) => sum + width, GAP.length * Math.max(head.length - 1, 0))
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
