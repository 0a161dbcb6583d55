import { randomUUID } from 'node:crypto'

/*
 * JSON whose integers survive. JSON.parse rounds what a double cannot hold, and the contract's ids reach 2^64-1.
 */

/** A number follows one of these, or begins the text. Digits in a string may too: then the long way is in vain. */
const LONG_INTEGER = /[:,[\s-]\d{16}/
const LONG_INTEGER_FIRST = /^\d{16}/
/**
 * An integer of 16 digits or more as the value of a member. A quote after a word character is not escaped, and one
 * followed by a colon closes a key: so this never matches inside a string.
 */
const LONG_MEMBER = /(\w":\s*)(-?[1-9]\d{15,})(?=\s*[,}])/g

/**
 * Returns what JSON.parse returns, but integers beyond ±(2^53-1) are bigints, exact. Throws like JSON.parse, and a
 * RangeError for nesting too deep.
 *
 * JSON.parse with a reviver takes six times as long as without, so members are marked in the text and read back
 * from the result (twice as long); the reviver is for what is left: long integers in arrays.
 */
export function parseLossless(text: string): unknown {
  if (!LONG_INTEGER.test(text) && !LONG_INTEGER_FIRST.test(text)) return JSON.parse(text)
  // Nobody can have put this into the text: it is as random as a key, and new each time.
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
  const exact = typeof value !== 'number' || Number.isSafeInteger(value) || !/^-?\d+$/.test(context.source)
  return exact ? value : BigInt(context.source)
}

/** Changes `value` in place: it is a fresh parse, and `__proto__` is a member like any other as long as it is there. */
function unmark(value: unknown, mark: string): unknown {
  if (typeof value === 'string') return value.startsWith(mark) ? integer(value.slice(mark.length)) : value
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) {
    // No array holds marks, only what it holds may.
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

/** TypeScript's library does not know these two yet (TC39 "JSON.parse source text access"). */
type ParseWithSource = (text: string, reviver: typeof exactInteger) => unknown
type RawJson = typeof JSON & { rawJSON(text: string): object }
