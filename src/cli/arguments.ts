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
