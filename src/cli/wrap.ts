/*
 * How a table gets into a narrow terminal: the columns with the most words give way, and their words go on below each
 * other. Columns of numbers, times and ids have one word and stay as they are; if those alone are too many, the
 * terminal wraps the lines.
 */

const BETWEEN_COLUMNS = 2

/** A word longer than this is broken: a path or a document without a space. */
const LONGEST_WORD = 40

/** How wide each column of these lines of cells may be, so that a line fits into `columns` if it can. */
export function fittingWidths(lines: readonly (readonly string[])[], columns: number): readonly number[] {
  const widths = widest(lines, widthOf)
  const least = widest(lines, text =>
    Math.max(...text.split(' ').map(word => Math.min(widthOf(word), LONGEST_WORD))),
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

/** How wide a table of these lines of cells is. */
export function tableWidth(lines: readonly (readonly string[])[]): number {
  const widths = widest(lines, widthOf)
  return sum(widths) + BETWEEN_COLUMNS * (widths.length - 1)
}

/** The text on as many lines as it takes, none wider than `width`, broken between words where that is possible. */
export function wrapped(text: string, width: number): string[] {
  if (widthOf(text) <= width) return [text]
  const lines: string[] = []
  let line = ''
  for (const word of text.split(' ').flatMap(word => pieces(word, width))) {
    const longer = line === '' ? word : `${line} ${word}`
    if (line !== '' && widthOf(longer) > width) {
      lines.push(line)
      line = word
    } else line = longer
  }
  return [...lines, line]
}

function pieces(word: string, width: number): string[] {
  if (widthOf(word) <= width) return [word]
  const parts = ['']
  for (const character of word) {
    const last = parts.length - 1
    if (widthOf(`${parts[last]}${character}`) > width) parts.push(character)
    else parts[last] += character
  }
  return parts
}

const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Emoji_Presentation}\uff01-\uff60]/gu

/** Columns of a terminal: characters of East Asia and pictures take two. */
function widthOf(text: string): number {
  return [...text].length + (text.match(WIDE)?.length ?? 0)
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
