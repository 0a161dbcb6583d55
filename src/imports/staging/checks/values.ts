import { parseLossless } from '#src/platform/lossless-json.ts'

/** Returns the text of a cell without outer white space; '' for an empty one, null for what is not text, such as an object. */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim()
  if (value === null || value === undefined) return ''
  return isPlain(value) ? String(value) : null
}

/** Whether Postgres can store it and it can be sent: it has no U+0000 and no lone surrogate. */
export function isSound(text: string): boolean {
  return text.isWellFormed() && !text.includes('\0')
}

const YES = new Set(['true', 'yes', '1'])
const NO = new Set(['false', 'no', '0'])

/** Null for neither yes nor no. */
export function booleanOf(text: string): boolean | null {
  const word = text.toLowerCase()
  if (YES.has(word)) return true
  return NO.has(word) ? false : null
}

/** The components of a row. `isList` tells `[]` from an empty cell: for some products `[]` has a meaning. */
export type ComponentList = { readonly ids: readonly string[]; readonly isList: boolean }

const SEPARATORS = /[|;,\s]+/

/**
 * The component ids of a cell: separated by `|`, `;`, `,` or spaces, or a JSON array, whose members may be objects that
 * have the id as `key`. Null if it is neither.
 */
export function componentsOf(value: unknown, key: string | undefined): ComponentList | null {
  if (Array.isArray(value)) return listOf(value, key)
  const text = isPlain(value) && !isId(value) ? null : textOf(value)
  if (text === null) return null
  if (text.startsWith('[')) {
    const list = parsed(text)
    return Array.isArray(list) ? listOf(list, key) : null
  }
  return { ids: unique(text.split(SEPARATORS).filter(id => id !== '')), isList: false }
}

/**
 * Whether an id is a number that a spreadsheet or a program has made of it, and may have rounded: `1.23457E+15`, of which a comma may
 * have cut off the beginning, `5750613685214.0`, or `#NUM!`.
 */
export function isRounded(id: string): boolean {
  return /^(?:\d+(?:[.,]\d+E[+-]?|E[+-])\d+|\d+\.0+|#(?:NUM|VALUE|REF|NAME|DIV\/0|N\/A)[!?]?)$/i.test(id)
}

export const ROUNDED =
  'the id was taken for a number, and may be rounded; format the column as text before the ids come into it, and export it again'

function listOf(list: readonly unknown[], key: string | undefined): ComponentList | null {
  const ids = list.map(member => {
    const id = key !== undefined && isRecord(member) ? member[key] : member
    return isId(id) ? String(id).trim() : ''
  })
  return ids.includes('') ? null : { ids: unique(ids), isList: true }
}

function isId(value: unknown): boolean {
  return typeof value === 'number' ? Number.isInteger(value) : typeof value !== 'boolean' && isPlain(value)
}

function isPlain(value: unknown): boolean {
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value)
}

function unique(ids: readonly string[]): readonly string[] {
  return ids.length < 2 ? ids : [...new Set(ids)]
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null
}

function parsed(text: string): unknown {
  try {
    return parseLossless(text)
  } catch {
    return undefined
  }
}

const SHAPE = /^([a-z]{2,3})-([A-Z]{2}|\d{3})$/
/** A file has few locales; one that has many has something else in that column. */
const MAX_REMEMBERED = 10_000

/** Returns a check for `<language>-<REGION>` with a language and a region that exist. */
export function openLocaleCheck(): (locale: string) => boolean {
  const languages = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' })
  const regions = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' })
  const known = new Map<string, boolean>()

  function isReal(locale: string): boolean {
    const [, language = '', region = ''] = SHAPE.exec(locale) ?? []
    // ZZ is the unknown region of CLDR.
    if (language === '' || region === 'ZZ') return false
    return languages.of(language) !== undefined && regions.of(region) !== undefined
  }

  return locale => {
    const before = known.get(locale)
    if (before !== undefined) return before
    const real = isReal(locale)
    if (known.size < MAX_REMEMBERED) known.set(locale, real)
    return real
  }
}

/** Returns the form in which locales of a file are compared: `EN_us` is `en-us`. */
export function localeKey(locale: string): string {
  return locale.toLowerCase().replaceAll('_', '-')
}
