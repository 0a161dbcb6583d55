import { holdsAddress } from '#src/model/addresses.ts'
import { firstOf } from '#src/model/cut-text.ts'
import { isNot } from '#src/model/did-you-mean.ts'
import { inSingleQuotes } from '#src/model/shell-word.ts'
import { FileRefused } from '../file-refused.ts'
import type { Preset } from '../presets/preset.ts'

/** A field of a row: one of the four of a subscriber, or one by which a preset leaves rows out. */
export type Field = {
  readonly name: string
  /** The columns it may be in; the first of them that the file has is used. */
  readonly columns: readonly string[]
  readonly required: boolean
  /** Its column was named by `--map`. */
  readonly isMapped?: true
  /** The product whose exports have it, if no other file has. */
  readonly product?: string
  /** It is that of a suppression list, which `--map` does not name. */
  readonly isListed?: true
}

/** The first four fields, in this order. */
export const RECIPIENT = 0
export const ALL = 1
export const COMPONENT_IDS = 2
export const LOCALE = 3

const COLUMNS = {
  recipient: ['recipient', 'email', 'email address', 'mail', 'address', 'subscriber'],
  all: ['all', 'subscribe all', 'all components'],
  component_ids: ['component_ids', 'components', 'component'],
  locale: ['locale', 'language', 'lang'],
} as const

/** The columns Ferry adds to a file of rejects, as its last ones. Where the file has one of these names, they have others. */
export const REJECT_COLUMNS = ['line', 'reason', 'message', 'request_id'] as const
const OTHER_NAMES = REJECT_COLUMNS.map(name => `ferry_${name}`)
const ADDED: readonly (readonly string[])[] = [REJECT_COLUMNS, OTHER_NAMES]

/** Returns the names of Ferry's columns, `line` first, in a file of rejects that has these columns of its own. */
export function rejectColumnsBeside(own: readonly string[]): readonly string[] {
  return anyOf(REJECT_COLUMNS, own) ? OTHER_NAMES : REJECT_COLUMNS
}

/** Returns the fields to look for. `map` names the columns of some of them. Throws `FileRefused` for an unknown field in it. */
export function fieldsOf(preset: Preset | null, map: Readonly<Record<string, string>>): readonly Field[] {
  const fields: Field[] = Object.entries(COLUMNS).map(([name, columns]) => ({
    name,
    columns: preset?.columns?.[name as keyof typeof COLUMNS] ?? columns,
    required: name === 'recipient',
  }))
  if (preset) {
    const { product, statuses, others = [] } = preset
    for (const [name, { columns, required = false }] of Object.entries(statuses)) {
      fields.push({ name, columns, required, product })
    }
    for (const column of others) fields.push({ name: column, columns: [column], required: false, product })
  }
  for (const name of Object.keys(map)) {
    if (fields.some(field => field.name === name)) continue
    const names = fields.map(field => field.name)
    throw new FileRefused(
      `--map: ${JSON.stringify(name)} ${isNot('a field', name, names)}`,
      `The fields are ${names.join(', ')}.`,
    )
  }
  return fields.map(field => {
    const column = map[field.name]
    return column === undefined ? field : { ...field, columns: [column], required: true, isMapped: true }
  })
}

/** Returns the names of the columns that may be read. */
export function namesOf(fields: readonly Field[]): readonly string[] {
  return fields.flatMap(({ columns }) => columns)
}

/** Returns how many of the last columns are those of a file of rejects: all four, or none. A column that is `read` is the file's own. */
export function columnsOfRejects(columns: readonly string[], read: readonly string[]): number {
  const last = columns.slice(-REJECT_COLUMNS.length)
  return ADDED.some(added => last.join() === added.join()) && !anyOf(last, read) ? last.length : 0
}

/** Returns the keys that are Ferry's in a line of rejects, or in several, by `nameOf`: all four of them, or none. */
export function keysOfRejects(keys: readonly string[], read: readonly string[]): ReadonlySet<string> {
  const names = new Set(keys.map(nameOf))
  const added = ADDED.findLast(all => all.every(name => names.has(nameOf(name)))) ?? []
  return new Set(anyOf(added, read) ? [] : added.map(nameOf))
}

/** Whether one of these names is among the others, however it is spelled. */
function anyOf(names: readonly string[], others: readonly string[]): boolean {
  const known = new Set(others.map(nameOf))
  return names.some(name => known.has(nameOf(name)))
}

/** Returns for each field in which column of the header it is, or -1. Throws `FileRefused` if that is not clear. */
export function matchColumns(header: readonly string[], fields: readonly Field[]): readonly number[] {
  const names = header.map(nameOf)
  return fields.map(field => {
    const name = field.columns.map(nameOf).find(candidate => names.includes(candidate))
    if (name === undefined) {
      if (field.required) throw columnMissing(header, field)
      return -1
    }
    const column = names.indexOf(name)
    if (names.lastIndexOf(name) === column) return column
    throw columnTwice('header', header[column], field)
  })
}

export function columnTwice(where: string, column: string | undefined, field: Field): FileRefused {
  return new FileRefused(
    `The ${where} has the column ${shownColumn(column)} more than once, and ${field.name} is read from it.`,
    'Rename all but one of them in the file.',
  )
}

export function columnMissing(header: readonly string[], field: Field): FileRefused {
  const shown = listed(header)
  const wanted = field.columns.map(nameOf)
  const [only = ''] = header.length === 1 ? header : []
  if (only.includes('|')) {
    return new FileRefused(
      `The file has no column for the ${field.name}: they seem to be separated by |.`,
      'Export it again, or convert it: Ferry reads columns separated by comma, semicolon or tab.',
    )
  }
  if (field.isMapped) {
    const [column] = field.columns
    return new FileRefused(
      `--map ${field.name}=${column}: the file has no column ${shownColumn(column)}; its columns are ${shown}.`,
      `Name one of these: --map ${field.name}=${quotedForShell(nearest(header, field))}`,
    )
  }
  if (field.product !== undefined) {
    const [column] = field.columns
    return new FileRefused(
      `This does not look like an export of ${field.product}: it has no column ${column}.`,
      `Leave out --from, or name the column that holds it with --map ${field.name}=COLUMN.`,
    )
  }
  if (field.isListed) {
    return new FileRefused(
      `The suppression list has no column for the ${field.name}; its columns are ${shown}.`,
      'Call the column recipient in the list, or leave only that column in it, without a header.',
    )
  }
  const near = header.find(column => wanted.includes(nameOf(column))) ?? nearest(header, field)
  return new FileRefused(
    `The file has no column for the ${field.name}; its columns are ${shown}.`,
    `Name the column: --map ${field.name}=${quotedForShell(near)}`,
  )
}

/** How many columns a message names. */
const COLUMNS_NAMED = 20

function listed(header: readonly string[]): string {
  const shown = header
    .slice(0, COLUMNS_NAMED)
    .map(shownColumn)
    .map(name => (name.includes(',') ? `"${name}"` : name))
  const more = header.length - shown.length
  return shown.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** Returns a name in lower case, without what separates its words: `E-Mail` and `email` are the same name. */
export function nameOf(column: string): string {
  return column
    .trim()
    .toLowerCase()
    .replace(/[\s_-]+/g, '')
}

/** A longer name of a column is cut off in messages. */
const MAX_NAME = 60

/** A number of a telephone alone, however it is grouped; a longer one anywhere. */
const TELEPHONE = /^(?:\w+:)?(?:[\s()./+-]*\d){7,}\s*$|\d{7}/
/** The address of a page, a mention, a number with its country. */
const OTHER_RECIPIENT = /:\/\/|^\s*[@+]|\w\.\w+\/\w/

/** Whether a text, such as a line that is taken for a header, holds an address in any spelling, or the recipient of another method. */
export function namesSomebody(text: string): boolean {
  return holdsAddress(text) || OTHER_RECIPIENT.test(text) || TELEPHONE.test(text)
}

/**
 * Returns what counts the lines of a row, from the quote on that is open at the end of the first one, that may name a recipient of
 * `method` beside those that the row has: a quote too many makes a note of rows. Of e-mail, a note may well have the number of a
 * telephone.
 */
export function openEnclosedCount(method: string): (raw: string, own: readonly unknown[]) => number {
  const isEmail = method === 'email'
  const mayName = isEmail ? (part: string) => /\S@\S/.test(part) : namesSomebody
  // The number of a telephone has spaces.
  const between = isEmail ? /[\s,;]+/ : /[,;\t\n]+/
  const partsOf = (text: string) => text.replaceAll('"', '').split(between)
  return (raw, own) => {
    if (!raw.includes('\n') && !raw.includes('\r')) return 0
    const [first = '', ...below] = raw.split(LINE_END)
    // Whole: an address is a part of others.
    const known = new Set(own.flatMap(one => (one ? partsOf(`${one}`) : [])))
    const others = (line: string) => partsOf(line).filter(part => !known.has(part))
    return [quotedAtEnd(first), ...below].filter(line => others(line).some(mayName)).length
  }
}

const LINE_END = /\r\n?|\n/

/** What stands behind the quote that is open where a line ends; two of them inside it are one that is written. */
function quotedAtEnd(line: string): string {
  let from = -1
  for (let at = line.indexOf('"'); at !== -1; at = line.indexOf('"', at + 1)) {
    if (from === -1) from = at
    else if (line[at + 1] === '"') at++
    else from = -1
  }
  return from === -1 ? '' : line.slice(from)
}

export function shownColumn(column: string | undefined): string {
  if (!column?.trim()) return '(no name)'
  return namesSomebody(column) ? '(an address)' : firstOf(inOneLine(column), MAX_NAME)
}

/** The column whose name is most like one of the names that are looked for. */
function nearest(header: readonly string[], field: Field): string {
  const named = header.filter(column => column.trim() !== '' && !namesSomebody(column))
  const wanted = field.columns.map(nameOf)
  const likeness = named
    .map(nameOf)
    .map(column => Math.max(...wanted.map(name => commonLetters(name, column))))
  const best = named[likeness.indexOf(Math.max(...likeness))]
  return best?.trim() ?? '…'
}

/** How long the longest beginning of one that is in the other. */
function commonLetters(name: string, column: string): number {
  let length = Math.min(name.length, column.length)
  while (length > 0 && !column.includes(name.slice(0, length))) length--
  return length
}

function quotedForShell(column: string): string {
  const name = inOneLine(column)
  return /^[\w.…-]+$/.test(name) ? name : inSingleQuotes(name)
}

/** A line break in a name is one of the separators that do not matter when it is looked for. */
function inOneLine(column: string): string {
  return column.trim().replace(/\s+/g, ' ')
}
