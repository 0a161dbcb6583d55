import { isEmailValid } from '@hapi/address'
import { unescapeCell } from '#src/model/csv-cells.ts'
import { FileRefused } from '../file-refused.ts'
import type { Preset } from '../presets/preset.ts'
import type { Delimiter } from './csv.ts'
import { fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import { columnsOfRejects, type Field, nameOf, namesOf, namesSomebody, REJECT_COLUMNS } from './header.ts'
import { type Block, LONGEST_LINE } from './lines.ts'
import { empty, oldMacLines } from './sniff.ts'

export type CsvHeader = {
  readonly columns: readonly string[]
  readonly delimiter: Delimiter
  /** The line after the header. */
  readonly firstLine: number
  /** The part of the blocks read that follows it. */
  readonly rest: Block
  /** The blocks read, as one. */
  readonly head: Block
}

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t']

/** A first line with more columns is not a header. A file of rejects adds its own. */
const MAX_COLUMNS = 4096

/** A header that goes on for longer is a lone quote. */
const LONGEST_HEADER = 1024 * 1024

/**
 * Reads the header out of a file's first blocks, as many as it takes. The delimiter is the one under which the columns
 * of the `fields` are found, else the one that makes most columns, or the one that a line above it names. Throws
 * `FileRefused` if there is no header: one of its lines is damaged, or the first holds somebody's address.
 */
export async function readHeader(
  blocks: AsyncGenerator<Block>,
  name: string,
  fields: readonly Field[],
  preset: Preset | null,
): Promise<CsvHeader> {
  let head: Block = { text: '', damaged: new Map(), last: false }
  for (;;) {
    const block = await blocks.next()
    if (block.done) throw new Error('a file without a last block')
    head = joined(head, block.value)
    const { delimiters, line, rest } = withoutHint(head)
    const header = headerIn(rest, name, fields, preset, delimiters)
    if (header) return { ...header, head, firstLine: header.firstLine + line - 1 }
  }
}

function joined(before: Block, block: Block): Block {
  const lines = before.text.split('\n').length - 1
  const damaged = [...block.damaged].map(([line, damage]) => [line + lines, damage] as const)
  return {
    text: before.text + block.text,
    damaged: new Map([...before.damaged, ...damaged]),
    last: block.last,
  }
}

/**
 * Takes Excel's hint off a file's first block, a line such as `sep=;`. Returns the delimiters that may be, the line that
 * the rest begins with, and the rest; all of them, 1 and the block itself if there is no hint.
 */
export function withoutHint(block: Block): {
  readonly delimiters: readonly Delimiter[]
  readonly line: number
  readonly rest: Block
} {
  const [hint = '', named] = /^"?sep=([,;\t])"?[,;\t]*\r?\n/i.exec(block.text) ?? []
  if (hint === '') return { delimiters: DELIMITERS, line: 1, rest: block }
  return {
    delimiters: DELIMITERS.filter(delimiter => delimiter === named),
    line: 2,
    rest: withoutStart(block, hint.length),
  }
}

/** Null if more must be read to know. */
function headerIn(
  block: Block,
  name: string,
  fields: readonly Field[],
  preset: Preset | null,
  delimiters: readonly Delimiter[],
): Omit<CsvHeader, 'head'> | null {
  const { text } = block
  const mayGoOn = !block.last && text.length < LONGEST_HEADER
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text)?.[0] ?? ''
  if (text.trim() === '') {
    if (mayGoOn) return null
    throw empty(name)
  }
  const blankLines = blank.split('\n').length - 1
  refuseDamage(block, blankLines, 1, name)
  const parsed = delimiters.map(delimiter => headerBy(delimiter, text, blank.length, fields, preset))
  const [header] = parsed
    .filter(candidate => typeof candidate === 'object')
    .sort(
      (a, b) =>
        // The names of our own columns are proof.
        Number(b.isOfRejects) - Number(a.isOfRejects) ||
        Number(b.hasAll) - Number(a.hasAll) ||
        b.found - a.found ||
        b.columns.length - a.columns.length,
    )
  if (mayGoOn && parsed.includes('open') && !header?.hasAll) return null
  if (parsed.includes('too wide') && !header?.hasAll) {
    throw new FileRefused(
      `${name} has too many columns: a header has ${MAX_COLUMNS} at most.`,
      'Export it again with fewer columns: those with the recipient, the components and the locale will do.',
    )
  }
  if (!header) throw noHeader(name, 'a lone quote')
  const { columns, delimiter, end, isInvented } = header
  if (isInvented) {
    return { columns, delimiter, firstLine: 1 + blankLines, rest: withoutStart(block, blank.length) }
  }
  if (columns.some(column => /\r(?!\n)/.test(column) && column.split('\r').some(isAddress))) {
    throw oldMacLines(name)
  }
  // In a list of people to leave out, what goes on in the next line may be one of them.
  const isList = fields.some(field => field.isListed)
  const holdsSomebody = (column: string, nth: number) =>
    isList ? column.includes('\n') : holdsRows(column, nth, delimiter, columns.length)
  if (columns.some(holdsSomebody)) {
    throw noHeader(
      name,
      'a quote in it encloses rows',
      'Correct that quote, and write each name in one line.',
    )
  }
  if (columns.some(isAddress)) {
    throw new FileRefused(
      `The first line of ${name} contains an address: the file has no header.`,
      // It may be a list of people who must not be subscribed.
      "Put the names of its columns above it, (echo 'email'; cat FILE) > named.csv, and give that file instead.",
    )
  }
  const headerLines = text.slice(blank.length, end).split('\n').length - 1
  refuseDamage(block, blankLines, headerLines, name)
  return {
    columns,
    delimiter,
    firstLine: 1 + blankLines + headerLines,
    rest: withoutStart(block, end),
  }
}

function isAddress(cell: string): boolean {
  return isEmailValid(cell.trim())
}

/**
 * Whether the name of the `nth` of `width` columns has several lines, and holds rows as wide as the header: one of somebody, or
 * several. A lone quote encloses the rest of the header too, and the row that closes it goes on in the columns after this one. A name
 * may have line breaks of its own.
 */
function holdsRows(column: string, nth: number, delimiter: Delimiter, width: number): boolean {
  const [first = [], ...below] = column.split('\n').map(line => line.split(delimiter))
  if (width > 1 && below.filter(cells => cells.length >= width).length > 1) return true
  return below.some((cells, n) => {
    const after = n === below.length - 1 ? width - 1 - nth : 0
    const isWide = cells.length + after >= nth + first.length && (cells.length > 1 || width === 1)
    return isWide && cells.some(namesSomebody)
  })
}

function refuseDamage({ damaged }: Block, from: number, lines: number, name: string): void {
  for (let line = from; line < from + lines; line++) {
    const damage = damaged.get(line)
    if (damage === 'not UTF-8') {
      throw new FileRefused(
        `The header of ${name} is not UTF-8 text.`,
        'Convert the file, from Latin-1 say: iconv -f ISO-8859-1 -t UTF-8 FILE > utf8.csv',
      )
    }
    if (damage === 'line too long') throw noHeader(name, `a line is longer than ${LONGEST_LINE} bytes`)
    if (damage) throw noHeader(name, damage)
  }
}

function headerBy(
  delimiter: Delimiter,
  text: string,
  at: number,
  fields: readonly Field[],
  preset: Preset | null,
) {
  const cells = fieldsFor(MAX_COLUMNS + REJECT_COLUMNS.length)
  const fault = scanRecord(text, at, delimiter.charCodeAt(0), cells)
  if (fault !== null) return fault === 'open' ? 'open' : 'damaged'
  if (cells.count > cells.starts.length) return 'too wide'
  const written = Array.from({ length: cells.count }, (_, n) => fieldAt(text, cells, n).trim())
  const ofRejects = columnsOfRejects(written, namesOf(fields))
  if (written.length - ofRejects > MAX_COLUMNS) return 'too wide'
  const invented = preset?.headerOf?.(written) ?? null
  const columns = invented ?? written
  const names = new Set(columns.map(column => nameOf(ofRejects > 0 ? unescapeCell(column) : column)))
  const found = fields.filter(field => field.columns.some(column => names.has(nameOf(column))))
  const hasAll = fields.every(field => !field.required || found.includes(field))
  return {
    columns,
    delimiter,
    end: cells.end,
    isInvented: invented !== null,
    isOfRejects: ofRejects > 0,
    hasAll,
    found: found.length,
  }
}

function withoutStart(block: Block, end: number): Block {
  const lines = block.text.slice(0, end).split('\n').length - 1
  const damaged = [...block.damaged].flatMap(([line, damage]) =>
    line < lines ? [] : [[line - lines, damage] as const],
  )
  return { text: block.text.slice(end), damaged: new Map(damaged), last: block.last }
}

function noHeader(
  name: string,
  why: string,
  whatToDo = 'The first line names the columns, separated by commas, semicolons or tabs.',
): FileRefused {
  return new FileRefused(`${name} does not begin with the header of a CSV (${why}).`, whatToDo)
}
