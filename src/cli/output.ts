import { createRequire } from 'node:module'
import { relative } from 'node:path'
import { styleText } from 'node:util'
import type Table from 'cli-table3'
import { type Cell, isLasting } from '#src/db/list.ts'
import { number } from '#src/model/counted.ts'
import { firstOf } from '#src/model/cut-text.ts'
import { duration } from '#src/model/duration.ts'
import { jsonOf } from '#src/model/json-text.ts'
import { fittingWidths, tableWidth, wrapped } from './wrap.ts'

const require = createRequire(import.meta.url)

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

export function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

/** Prints lines and waits until the reader has taken them. Returns false once the reader is gone. */
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

/** Prints a line on stderr: a note beside the result. */
export function printAside(line: string): void {
  process.stderr.write(`${line}\n`)
}

const CLEAR_LINE = '\r\u001b[K'

/** A line on stderr that is written over. Clear it before anything else is printed. Without a terminal it stays empty. */
export class StatusLine {
  #shownAtMs: number | null = null
  readonly #everyMs: number

  /** The text changes at most every `everyMs`. */
  constructor(everyMs = 0) {
    this.#everyMs = everyMs
  }

  show(text: string): void {
    const nowMs = performance.now()
    if (!process.stderr.isTTY || nowMs - (this.#shownAtMs ?? -Infinity) < this.#everyMs) return
    this.#shownAtMs = nowMs
    process.stderr.write(CLEAR_LINE + text.slice(0, columnsShown() - 1))
  }

  clear(): void {
    if (this.#shownAtMs !== null) process.stderr.write(CLEAR_LINE)
    this.#shownAtMs = null
  }
}

/**
 * Prints a table without borders, numbers aligned to the right. Prints `none` if it has no rows. On a terminal the table is
 * made to fit: long cells are wrapped.
 */
export function printTable(head: readonly string[], rows: readonly (readonly Cell[])[], none: string): void {
  if (rows.length === 0) {
    print(none)
    return
  }
  print(tableOf(head, rows, process.stdout.isTTY ? columnsShown() : null))
}

/** Returns the table as text. If `columns` is given, cells are wrapped to fit that width. */
export function tableOf(
  head: readonly string[],
  rows: readonly (readonly Cell[])[],
  columns: number | null,
): string {
  // Loaded only by commands that print a table.
  const TableOf: typeof Table = require('cli-table3')
  const numbers = head.map((_, column) => rows.every(row => isNumber(row[column])))
  const cells = rows.map(row => row.map(cellText))
  const widths = columns === null ? null : fittingWidths([head, ...cells], columns)
  const table = new TableOf({
    head: head.map(emphasised),
    colAligns: numbers.map(isOfNumbers => (isOfNumbers ? 'right' : 'left')),
    chars: { ...NO_BORDERS, middle: GAP },
    style: { head: [], border: [], 'padding-left': 0, 'padding-right': 0 },
  })
  for (const row of cells) {
    table.push(widths ? row.map((text, n) => wrapped(text, widths[n] ?? 0).join('\n')) : row)
  }
  return table.toString().replaceAll(/ +$/gm, '')
}

/** Whether a table needs no wrapping: the output is not a terminal, or the terminal is wide enough. */
export function fits(head: readonly string[], rows: readonly (readonly Cell[])[]): boolean {
  return !process.stdout.isTTY || tableWidth([head, ...rows.map(row => row.map(cellText))]) <= columnsShown()
}

export function columnsShown(): number {
  return process.stdout.columns || 80
}

/** Returns the text in bold on a terminal, unless NO_COLOR is set. */
export function emphasised(text: string): string {
  return coloured('bold', text)
}

export function coloured(style: 'bold' | 'green' | 'yellow' | 'red', text: string): string {
  return styleText(style, text, { stream: process.stdout })
}

/** Replaces control characters in text that others wrote: a terminal would run them as commands. */
export function harmless(text: string): string {
  return text.replaceAll(UNSAFE, '\ufffd')
}

/** Control characters, line separators, and marks that change the direction of text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** The same for text of several lines: their ends stay, and tabs. */
function harmlessLines(text: string): string {
  return text.replaceAll(UNSAFE, character => (/[\n\t]/.test(character) ? character : '\ufffd'))
}

/** Returns a file's text that is printed as it is, unless a terminal is to show it. */
export function asPrinted(text: string): string {
  return process.stdout.isTTY ? harmlessLines(text) : text
}

/** Characters shown of a long word in a message: enough to find it again. */
const MAX_WORD = 120

/**
 * Returns a message as a terminal may show it: without control characters other than the ends of its lines, and without the
 * middle of very long words. A message may repeat what it was given.
 */
export function harmlessMessage(text: string): string {
  const short = text.replaceAll(
    /\S{240,}/gu,
    word => `${word.slice(0, MAX_WORD)}…${word.slice(-MAX_WORD / 4)}`,
  )
  return harmlessLines(short)
}

/** Returns an instant for people: in UTC, to the second. */
export function instant(at: Date | null): string {
  return at === null ? '' : `${at.toISOString().slice(0, 19).replace('T', ' ')}Z`
}

/** Returns a path as a terminal may show it, relative to the current directory if it is in it. */
export function shownPath(path: string): string {
  const fromHere = relative('', path)
  return harmless(fromHere.startsWith('..') ? path : fromHere)
}

function isNumber(cell: Cell | undefined): boolean {
  return typeof cell === 'number' || typeof cell === 'bigint' || cell === null
}

/** A table cuts longer text: names and descriptions have no bound. */
const MAX_CELL = 1_000

/** Returns a value as a table shows it. */
export function cellText(cell: Cell): string {
  if (cell instanceof Date) return instant(cell)
  if (isLasting(cell)) return duration(cell.ms)
  if (typeof cell === 'number') return number(cell)
  if (typeof cell === 'boolean') return cell ? 'yes' : 'no'
  const text = String(cell ?? '')
  if (text.length <= MAX_CELL) return harmless(text)
  return `${harmless(firstOf(text, MAX_CELL))}… (${number(text.length)} characters)`
}
