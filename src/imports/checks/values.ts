import { parseLossless } from '#src/platform/lossless-json.ts'

/** The text of a cell without outer white space; '' for none, null for what is no text (an object, say). */
export function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value.trim()
  if (value === null || value === undefined) return ''
  return isPlain(value) ? String(value) : null
}

/** Whether Postgres takes it and it can be sent: no U+0000, no lone surrogate. */
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

/** `[]` apart from nothing at all: some products mean something by it. */
export type ComponentList = { readonly ids: readonly string[]; readonly isList: boolean }

const SEPARATORS = /[|;,\s]+/

/**
 * The component ids of a cell: separated by `|`, `;`, `,` or spaces, or a JSON array, whose members may be objects that
 * have the id as `key`. Null if it is neither.
 */
export function componentsOf(value: unknown, key: string | undefined): ComponentList | null {
  if (Array.isArray(value)) return listOf(value, key)
  const text = typeof value === 'number' && !Number.isInteger(value) ? null : textOf(value)
  if (text === null) return null
  if (text.startsWith('[')) {
    const list = parsed(text)
    return Array.isArray(list) ? listOf(list, key) : null
  }
  return { ids: unique(text.split(SEPARATORS).filter(id => id !== '')), isList: false }
}

function listOf(list: readonly unknown[], key: string | undefined): ComponentList | null {
  const ids = list.map(member => {
    const id = key !== undefined && isRecord(member) ? member[key] : member
    const isId = typeof id === 'number' ? Number.isInteger(id) : typeof id !== 'boolean' && isPlain(id)
    return isId ? String(id).trim() : ''
  })
  return ids.includes('') ? null : { ids: unique(ids), isList: true }
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
