import { type Fault, fieldAt, fieldsFor, scanRecord } from './csv-record.ts'
import { type Damage, LONGEST_LINE } from './lines.ts'
import { DAMAGE_IN_WORDS, type Reader, type Sink } from './reader.ts'

export type Delimiter = ',' | ';' | '\t'

export type CsvShape = {
  readonly delimiter: Delimiter
  /** How many fields a row has. */
  readonly width: number
  /** By field asked for: in which column it is, or -1. */
  readonly columns: readonly number[]
}

/** `refused`: a record over several lines that fails a check. */
type Trouble = Fault | Damage | 'refused'

const QUOTES: Readonly<Record<Fault | 'refused', string>> = {
  open: 'a quote is opened on this line and never closed',
  refused: 'a quote is opened on this line, and what it would enclose with the lines below is no valid row',
  'quote in a field': 'a quote stands inside a field that does not begin with one',
  'text after a quote': 'text follows a closing quote',
}
const TROUBLE_IN_WORDS: Readonly<Record<Trouble, string>> = { ...QUOTES, ...DAMAGE_IN_WORDS }

const LF = 10
const CR = 13

/**
 * Reads the records of a CSV out of its blocks, from line `firstLine` on.
 *
 * A damaged line costs itself and nothing else. Where a quoted field goes on over several lines nobody can know
 * whether that was meant, or whether a lone quote swallows rows: so if anything at all is wrong with such a record,
 * its first line alone is damaged, and reading goes on at the second.
 */
export function openCsvReader(shape: CsvShape, firstLine: number, sink: Sink): Reader {
  const delimiter = shape.delimiter.charCodeAt(0)
  const fields = fieldsFor(shape.width)
  const values: (string | undefined)[] = shape.columns.map(() => undefined)
  let line = firstLine
  /** A record begun in the last block and not ended there. None of its lines is damaged. */
  let open = ''

  /** Leaves the record at `at` with the sink, or says what is wrong with its first line. */
  function take(text: string, at: number, damageOf: (line: number) => Damage | undefined): Trouble | null {
    const fault = damageOf(line) ?? scanRecord(text, at, delimiter, fields)
    if (fault !== null) return fault
    const isWhole = fields.count === shape.width
    const lines = fields.quoted ? linesIn(text, at, fields.end) : 1
    if (lines > 1) {
      if (!isWhole || fields.end - at > LONGEST_LINE) return 'refused'
      for (let n = line + 1; n < line + lines; n++) if (damageOf(n)) return 'refused'
    }
    const raw = withoutNewline(text, at, fields.end)
    if (!isWhole) {
      const message = `the line has ${fields.count} fields, the header has ${shape.width}`
      sink.damaged(line, 'number of fields', message, raw)
    } else {
      for (let n = 0; n < values.length; n++) {
        const column = shape.columns[n] ?? -1
        if (column !== -1) values[n] = fieldAt(text, fields, column)
      }
      if (!sink.row(line, values, raw, lines > 1)) return 'refused'
    }
    line += lines
    return null
  }

  return block => {
    const text = open + block.text
    const blockLine = line + linesIn(open, 0, open.length)
    const damageOf = (n: number) => block.damaged.get(n - blockLine)
    const damageFrom = (n: number) => [...block.damaged.keys()].some(key => blockLine + key >= n)
    open = ''
    for (let at = 0; at < text.length; ) {
      const empty = emptyLineAt(text, at)
      const trouble = empty > 0 ? null : take(text, at, damageOf)
      if (empty > 0) {
        at += empty
        line++
      } else if (trouble === null) {
        at = fields.end
      } else if (trouble === 'open' && !block.last && text.length - at <= LONGEST_LINE && !damageFrom(line)) {
        open = text.slice(at)
        return
      } else {
        const newline = text.indexOf('\n', at)
        const end = newline === -1 ? text.length : newline + 1
        const reason = trouble in QUOTES ? 'quotes' : trouble
        sink.damaged(line, reason, TROUBLE_IN_WORDS[trouble], withoutNewline(text, at, end))
        at = end
        line++
      }
    }
  }
}

/** How long the line at `at` is, newline included, if there is nothing on it; else 0. */
function emptyLineAt(text: string, at: number): number {
  if (text.charCodeAt(at) === LF) return 1
  return text.charCodeAt(at) === CR && text.charCodeAt(at + 1) === LF ? 2 : 0
}

function linesIn(text: string, from: number, to: number): number {
  let lines = 0
  for (let at = text.indexOf('\n', from); at !== -1 && at < to; at = text.indexOf('\n', at + 1)) lines++
  return to > from && text.charCodeAt(to - 1) !== LF ? lines + 1 : lines
}

function withoutNewline(text: string, from: number, to: number): string {
  let end = to
  if (end > from && text.charCodeAt(end - 1) === LF) end--
  if (end > from && text.charCodeAt(end - 1) === CR) end--
  return text.slice(from, end)
}
