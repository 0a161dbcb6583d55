import { createRequire } from 'node:module'
import type stringWidth from 'string-width'
import type wrapAnsi from 'wrap-ansi'

/*
 * Fits a table into a narrow terminal: the widest columns become narrower, and their text is wrapped between words. Columns
 * of numbers, times and ids have one word and keep their width. If those alone are too wide, the terminal wraps the lines.
 */

const BETWEEN_COLUMNS = 2

/** A longer word is broken, such as a path or a document without a space. */
const MAX_WORD = 40

const require = createRequire(import.meta.url)

/** Each of these takes one column. */
const ASCII = /^[ -~]*$/

/** The columns that a text takes. The package is loaded only for other texts: that takes 30 ms. */
function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length
  const { default: measure }: { default: typeof stringWidth } = require('string-width')
  return measure(text)
}

/** Returns the width of each column, so that the lines of cells fit into `columns` if that is possible. */
export function fittingWidths(lines: readonly (readonly string[])[], columns: number): readonly number[] {
  const widths = widest(lines, widthOf)
  const least = widest(lines, text =>
    Math.max(...text.split(' ').map(word => Math.min(widthOf(word), MAX_WORD))),
  )
  let excess = tableWidth(lines) - columns
  while (excess > 0) {
    const givesWay = indexOfWidest(widths, least)
    if (givesWay === undefined) return widths
    widths[givesWay] = (widths[givesWay] ?? 0) - 1
    excess -= 1
  }
  return widths
}

/** Returns the width of a table of these lines of cells. */
export function tableWidth(lines: readonly (readonly string[])[]): number {
  const widths = widest(lines, widthOf)
  return sum(widths) + BETWEEN_COLUMNS * (widths.length - 1)
}

/** Returns the text in lines not wider than `width`, broken between words where possible. */
export function wrapped(text: string, width: number): string[] {
  if (text.length <= width && ASCII.test(text) && text === text.trim()) return [text]
  const { default: wrap }: { default: typeof wrapAnsi } = require('wrap-ansi')
  return wrap(text, width, { hard: true }).split('\n')
}

function widest(lines: readonly (readonly string[])[], measure: (text: string) => number): number[] {
  const widths: number[] = []
  for (const line of lines) {
    for (const [n, text] of line.entries()) widths[n] = Math.max(widths[n] ?? 0, measure(text))
  }
  return widths
}

function indexOfWidest(widths: readonly number[], least: readonly number[]): number | undefined {
  const canGiveWay = [...widths.keys()].filter(n => (widths[n] ?? 0) > (least[n] ?? 0))
  return canGiveWay.sort((a, b) => (widths[b] ?? 0) - (widths[a] ?? 0))[0]
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
