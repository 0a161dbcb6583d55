import { isEmailValid } from '@hapi/address'
import { FileRefused } from '../file-refused.ts'
import type { Preset } from '../presets/preset.ts'
import type { Delimiter } from './csv.ts'
import { fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import type { Block } from './lines.ts'
import { empty } from './sniff.ts'

export type CsvHeader = {
  readonly columns: readonly string[]
  readonly delimiter: Delimiter
  /** The line after the header. */
  readonly firstLine: number
  /** What of the block comes after it. */
  readonly rest: Block
}

const DELIMITERS: readonly Delimiter[] = [',', ';', '\t']

/** More columns than this and the first line is no header. */
const MOST_COLUMNS = 4096

/**
 * Reads the header out of a file's first block. The delimiter is the one that makes most columns of it, or the one that
 * a line above it names. Throws `FileRefused` if there is none: its first line is damaged, or holds somebody's address.
 */
export function readHeader(block: Block, name: string, preset: Preset | null): CsvHeader {
  const { delimiters, line, rest } = withoutHint(block)
  const header = headerIn(rest, name, preset, delimiters)
  return { ...header, firstLine: header.firstLine + line - 1 }
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

function headerIn(
  block: Block,
  name: string,
  preset: Preset | null,
  delimiters: readonly Delimiter[],
): CsvHeader {
  const { text, damaged } = block
  const blank = /^(?:[ \t]*\r?\n)*/.exec(text)?.[0] ?? ''
  if (text.trim() === '') throw empty(name)
  const blankLines = blank.split('\n').length - 1
  const damage = damaged.get(blankLines)
  if (damage === 'not UTF-8') {
    throw new FileRefused(
      `The header of ${name} is not UTF-8 text.`,
      'Convert the file, from Latin-1 say: iconv -f ISO-8859-1 -t UTF-8 FILE > utf8.csv',
    )
  }
  if (damage) throw noHeader(name, damage)
  const parsed = delimiters.flatMap(delimiter => headerBy(delimiter, text, blank.length) ?? [])
  const [header] = parsed.sort((a, b) => b.columns.length - a.columns.length)
  if (!header) throw noHeader(name, 'a lone quote')
  const { columns, delimiter, end } = header
  const invented = preset?.headerOf?.(columns) ?? null
  if (invented) {
    return {
      columns: invented,
      delimiter,
      firstLine: 1 + blankLines,
      rest: withoutStart(block, blank.length),
    }
  }
  if (columns.some(column => isEmailValid(column))) {
    throw new FileRefused(
      `The first line of ${name} holds somebody's address: the file has no header.`,
      "Put the names of its columns above it: (echo 'email'; cat FILE) | ferry import - …",
    )
  }
  const headerLines = text.slice(blank.length, end).split('\n').length - 1
  return {
    columns,
    delimiter,
    firstLine: 1 + blankLines + headerLines,
    rest: withoutStart(block, end),
  }
}

function headerBy(delimiter: Delimiter, text: string, at: number) {
  const fields = fieldsFor(MOST_COLUMNS)
  if (scanRecord(text, at, delimiter.charCodeAt(0), fields) !== null || fields.count > MOST_COLUMNS)
    return null
  const columns = Array.from({ length: fields.count }, (_, n) => fieldAt(text, fields, n).trim())
  return { columns, delimiter, end: fields.end }
}

function withoutStart(block: Block, end: number): Block {
  const lines = block.text.slice(0, end).split('\n').length - 1
  const damaged = [...block.damaged].flatMap(([line, damage]) =>
    line < lines ? [] : [[line - lines, damage] as const],
  )
  return { text: block.text.slice(end), damaged: new Map(damaged), last: block.last }
}

function noHeader(name: string, why: string): FileRefused {
  return new FileRefused(
    `The first line of ${name} is no header of a CSV (${why}).`,
    'The first line names the columns, separated by commas, semicolons or tabs.',
  )
}
