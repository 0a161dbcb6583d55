import { randomUUID } from 'node:crypto'

/*
 * JSON with exact integers. JSON.parse rounds what a double cannot hold, and the contract's ids reach 2^64-1.
 */

/**
 * Finds 16 digits after a character that a number can follow. Digits in a string may match too; then the text is
 * parsed in the slower way without need.
 */
const LONG_INTEGER = /[:,[\s-]\d{16}/
const LONG_INTEGER_FIRST = /^\d{16}/
/**
 * Finds an integer of 16 to 40 digits as the value of a member. A quote after a word character is not escaped, and a
 * quote before a colon ends a key, so this never matches inside a string.
 */
const LONG_MEMBER = /(\w":\s*)(-?[1-9]\d{15,39})(?=\s*[,}])/g

/**
 * Returns what JSON.parse returns, except that integers beyond ±(2^53-1) are exact bigints, up to 40 digits: to convert a million of
 * them takes a quarter of a second. Throws like JSON.parse, and a RangeError if the nesting is too deep.
 *
 * JSON.parse takes six times as long with a reviver. So long integers of members are marked in the text and converted in
 * the result, which takes twice as long; only long integers in arrays need the reviver.
 */
export function parseLossless(text: string): unknown {
  if (!LONG_INTEGER.test(text) && !LONG_INTEGER_FIRST.test(text)) return JSON.parse(text)
  // Random and new each time, so the text cannot contain it already.
  const mark = randomUUID()
  const marked = text.replace(LONG_MEMBER, `$1"${mark}$2"`)
  if (LONG_INTEGER.test(marked) || LONG_INTEGER_FIRST.test(marked)) {
    return (JSON.parse as ParseWithSource)(text, exactInteger)
  }
  return unmark(JSON.parse(marked), mark)
}

/** Returns the JSON text of `value`, bigints written as integers. */
export function stringifyLossless(value: unknown): string {
  return JSON.stringify(value, (_key, member) =>
    typeof member === 'bigint' ? (JSON as RawJson).rawJSON(`${member}`) : member,
  )
}

function exactInteger(_key: string, value: unknown, context: { readonly source: string }): unknown {
  const exact =
    typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d{1,40}$/.test(context.source)
  return exact ? value : BigInt(context.source)
}

/** Changes `value` in place: no other code has it yet, and an own `__proto__` member stays as it is. */
function unmark(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? integer(value.slice(mark.length)) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    // Elements are never marked themselves; their members may be.
    for (const item of value) unmark(item, mark)
    return value
  }
  const members = value as Record<string, unknown>
  for (const key of Object.keys(members)) {
    const before = members[key]
    const after = unmark(before, mark)
    if (after !== before) members[key] = after
  }
  return value
}

function integer(digits: string): number | bigint {
  const rounded = Number(digits)
  return Number.isSafeInteger(rounded) ? rounded : BigInt(digits)
}

/** TypeScript's library lacks these two (TC39 "JSON.parse source text access"). Remove them once it has them. */
type ParseWithSource = (text: string, reviver: typeof exactInteger) => unknown
type RawJson = typeof JSON & { rawJSON(text: string): object }
