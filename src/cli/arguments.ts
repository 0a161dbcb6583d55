import { InvalidArgumentError } from 'commander'
import { LONGEST_TIMER, LONGEST_TIMER_MS, parseDuration } from '#src/model/duration.ts'

/** How the words of a command line are read. What cannot be read is a wrong usage. */

export function idArgument(text: string): bigint {
  if (!/^\d{1,18}$/.test(text)) throw new InvalidArgumentError('Write its number, as the list shows it.')
  return BigInt(text)
}

export function countArgument(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Write a whole number.')
  return Number(text)
}

/** For what makes no sense with none. */
export function countFrom(least: number, most: number): (text: string) => number {
  return text => {
    const number = /^\d{1,9}$/.test(text) ? Number(text) : -1
    if (number < least || number > most) {
      throw new InvalidArgumentError(`Write a whole number from ${least} to ${most}.`)
    }
    return number
  }
}

/** For what a machine can hold only so much of. */
export function countUpTo(most: number): (text: string) => number {
  return text => {
    if (!/^\d+$/.test(text) || Number(text) > most) {
      throw new InvalidArgumentError(`Write a whole number from 0 to ${most}.`)
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

/** For what happens again and again. */
export function everyArgument(text: string): number {
  const ms = durationArgument(text)
  if (ms === 0)
    throw new InvalidArgumentError('Write more than 0, as 30s; leave it out, and nothing changes.')
  return ms
}

export function keyArgument(text: string): string {
  if (!/^\S+$/.test(text)) {
    throw new InvalidArgumentError('Write an app_key of one word, without white space.')
  }
  return text
}

export function folderArgument(text: string, earlier: readonly bigint[] = []): readonly bigint[] {
  return [...earlier, uint64(text, 'a folder id')]
}

export function pageArgument(text: string): bigint {
  return uint64(text, "the page's id")
}

function uint64(text: string, what: string): bigint {
  const id = /^\d{1,20}$/.test(text) ? BigInt(text) : -1n
  if (id < 0n || id >= 2n ** 64n) throw new InvalidArgumentError(`Write ${what}, 0 to 18446744073709551615.`)
  return id
}

export function ruleArgument(text: string): bigint {
  return uint64(text, "the rule's id")
}

export function teamArgument(text: string): bigint {
  return uint64(text, "the team's id")
}

export function oneFolderArgument(text: string): bigint {
  return uint64(text, 'a folder id')
}

/** An instant, or how long ago it was: `2026-11-01`, `2026-11-01T03:30Z`, `24h`, `7d`. UTC if no zone is given. */
export function instantArgument(text: string): Date {
  const [, days] = /^(\d{1,5})d$/.exec(text) ?? []
  const agoMs = days === undefined ? parseDuration(text) : Number(days) * 86_400_000
  const at = agoMs === undefined ? instantOf(text) : Date.now() - agoMs
  if (Number.isNaN(at)) {
    throw new InvalidArgumentError(
      'Write an instant or how long ago: 2026-11-01, 2026-11-01T03:30Z, 24h or 7d.',
    )
  }
  return new Date(at)
}

function instantOf(text: string): number {
  const [, date, time, zone] =
    /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,6})?)?)(Z|[+-]\d{2}:\d{2})?)?$/.exec(text) ??
    []
  const at = Date.parse(`${date}T${time ?? '00:00'}${zone ?? 'Z'}`)
  return isDayOfCalendar(date ?? '') ? at : Number.NaN
}

/** `Date.parse` takes the 31st of February for the 3rd of March. */
function isDayOfCalendar(date: string): boolean {
  const midnight = Date.parse(`${date}T00:00Z`)
  return !Number.isNaN(midnight) && new Date(midnight).toISOString().startsWith(date)
}

/** `key=value`, any number of them. */
export function labelArgument(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? []
  if (key === undefined || value === undefined) {
    throw new InvalidArgumentError('Write a label and its value: team=payments.')
  }
  return { ...earlier, [key]: value }
}

/** `field=column`, any number of them. */
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

/** `said=locale`, any number of them. */
export function mapLocaleArgument(
  text: string,
  earlier: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const [, said, locale] = /^([^=]+)=([^=]+)$/.exec(text) ?? []
  if (said === undefined || locale === undefined) {
    throw new InvalidArgumentError('Write what the file has, and the locale it means: de=de-DE.')
  }
  if (Object.hasOwn(earlier, said)) throw new InvalidArgumentError(`${said} is mapped twice.`)
  return { ...earlier, [said]: locale }
}
