import { InvalidArgumentError } from 'commander'
import { LONGEST_TIMER, LONGEST_TIMER_MS, parseDuration } from '#src/model/duration.ts'
import { FIRST_YEAR, isInBounds, LAST_YEAR, parseAge, parseInstant } from '#src/model/instant.ts'
import { inSingleQuotes } from '#src/model/shell-word.ts'
import { MAX_UINT64, uint64Of } from '#src/model/uint64.ts'

/*
 * Readers for the values of options and arguments. A value that cannot be read is wrong usage.
 */

export function idArgument(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('Write a number, as the list shows it.')
  return BigInt(text)
}

/** Reads a path. An empty one is that of a variable that is not set. */
export function pathArgument(text: string): string {
  if (text === '') throw new InvalidArgumentError('Write a path.')
  return text
}

/** Reads how many rows to show. */
export const limitArgument = countFrom(1, 1_000_000)

/** Reads a whole number between two bounds. */
export function countFrom(min: number, max: number): (text: string) => number {
  return text => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1
    if (number < min || number > max) {
      throw new InvalidArgumentError(`Write a whole number from ${min} to ${max}.`)
    }
    return number
  }
}

/** Reads a whole number from 0 to a bound. */
export function countUpTo(max: number): (text: string) => number {
  return text => {
    if (!/^\d+$/.test(text) || Number(text) > max) {
      throw new InvalidArgumentError(`Write a whole number from 0 to ${max}.`)
    }
    return Number(text)
  }
}

export function durationArgument(text: string): number {
  const ms = parseDuration(text)
  if (ms === undefined) throw new InvalidArgumentError('Write a number and its unit: 200ms or 2s.')
  if (ms > LONGEST_TIMER_MS) throw new InvalidArgumentError(`Write ${LONGEST_TIMER} or less.`)
  return ms
}

/** Reads the time between repetitions. */
export function everyArgument(text: string): number {
  const ms = durationArgument(text)
  if (ms === 0) throw new InvalidArgumentError('Write more than 0, such as 30s, or leave the option out.')
  return ms
}

export function keyArgument(text: string): string {
  if (!/^\S+$/.test(text)) {
    throw new InvalidArgumentError('Write an app_key without white space.')
  }
  return text
}

/** Reads the channel of an import. The platform decides which channels exist. */
export function methodArgument(text: string): string {
  if (/^email$/i.test(text) && text !== 'email')
    throw new InvalidArgumentError('Write it in lower case: email.')
  if (!/^[\w.-]{1,100}$/.test(text))
    throw new InvalidArgumentError('Write the name of a channel, such as email.')
  return text
}

/** Reads what rows are narrowed down by. An empty one is most often a variable without a value, and would show everything. */
export function wordsArgument(text: string): string {
  if (text.trim() === '')
    throw new InvalidArgumentError('It is empty: write what to look for, or leave the option out.')
  return text
}

export function folderArgument(text: string, earlier: readonly bigint[] = []): readonly bigint[] {
  return [...earlier, uint64(text, 'a folder id')]
}

export function pageArgument(text: string): bigint {
  return uint64(text, "the page's id")
}

/** Reads an id of the platform. */
export function uint64(text: string, what: string): bigint {
  const id = uint64Of(text)
  if (id === null) throw new InvalidArgumentError(`Write ${what}, 0 to ${MAX_UINT64}.`)
  return id
}

/** A name in place of the id finds nothing: rules may share one. */
export function ruleArgument(text: string): bigint {
  if (/\p{L}/u.test(text)) {
    throw new InvalidArgumentError(
      `Write the rule's id; \`ferry rules list --name ${inSingleQuotes(text)}\` finds it by its name.`,
    )
  }
  return uint64(text, "the rule's id")
}

export function oneFolderArgument(text: string): bigint {
  return uint64(text, 'a folder id')
}

/** Reads an instant, or how long ago it was: `2026-11-01`, `2026-11-01T03:30Z`, `24h`, `7d`. UTC without a zone. */
export function instantArgument(text: string): Date {
  const at = parseAge(text) ?? parseInstant(text)
  if (at !== null && isInBounds(at)) return at
  if (at !== null || /^(0\d{3}|9999)-\d\d-\d\d/.test(text)) {
    throw new InvalidArgumentError(
      `The time is out of range. Write one from the year ${FIRST_YEAR} to ${LAST_YEAR}.`,
    )
  }
  throw new InvalidArgumentError('Write a time or an age: 2026-11-01, 2026-11-01T03:30Z, 24h or 7d.')
}

/** Reads a day of the calendar: `2026-11-20`. */
export function dateArgument(text: string): string {
  if (/^\d{4}-\d{2}-\d{2}$/.test(text) && parseInstant(text)) return text
  throw new InvalidArgumentError('Write a date: 2026-11-20.')
}

/** Reads a name; may be repeated. */
export function everyNameArgument(text: string, earlier: readonly string[] = []): readonly string[] {
  return [...earlier, text]
}

/** Reads `key=value`; may be repeated. */
export function labelArgument(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError('Write a label and its value: team=payments.')
  }
  if (Object.hasOwn(earlier, key)) throw new InvalidArgumentError(`The label ${key} is given twice.`)
  return { ...earlier, [key]: value }
}

/** Reads `field=column`; may be repeated. */
export function mapArgument(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, field, column] = /^([^=]+)=(.+)$/s.exec(text) ?? []
  if (field === undefined || column === undefined) {
    throw new InvalidArgumentError('Write a field and the column that holds it: recipient=Email.')
  }
  if (Object.hasOwn(earlier, field)) throw new InvalidArgumentError(`${field} is mapped twice.`)
  return { ...earlier, [field]: column }
}

/** Reads `text=locale`; may be repeated. */
export function mapLocaleArgument(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, value, locale] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (value === undefined || locale === undefined) {
    throw new InvalidArgumentError('Write the value in the file and the locale it means: de=de-DE.')
  }
  if (Object.hasOwn(earlier, value)) throw new InvalidArgumentError(`${value} is mapped twice.`)
  return { ...earlier, [value]: locale }
}
