import type { Drift } from '#src/model/listing.ts'
import { cleanString, cleanText } from './clean-text.ts'
import { stringifyLossless } from './lossless-json.ts'

/** The fields that the contract declares for a row. Those not in `nested` hold a single value. */
export type Declared = {
  readonly fields: ReadonlySet<string>
  /** Text by free keys (`labels`), or an array of objects with these fields (`tools`). */
  readonly nested: ReadonlyMap<string, 'text by key' | ReadonlySet<string>>
}

export type RawRow = Readonly<Record<string, unknown>>

/** Bounds on undeclared fields: how many are noted, and how long a name may be. So invented fields cannot fill the ledger. */
const MAX_DRIFT = 100
const MAX_NAME = 200

/** Collects undeclared fields: names and JSON types, each once, never a value. */
export function openDrift(declared: Declared): { look(raw: unknown): void; found(): Drift[] } {
  const found = new Map<string, Drift>()

  function note(object: unknown, fields: ReadonlySet<string>, prefix: string): void {
    if (!isObject(object)) return
    for (const key in object) {
      if (fields.has(key) || found.size >= MAX_DRIFT) continue
      const drift = { field: shortName(prefix + key), type: jsonType(object[key]) }
      found.set(`${drift.type} ${drift.field}`, drift)
    }
  }
  return {
    look(raw) {
      note(raw, declared.fields, '')
      for (const [field, items] of declared.nested) {
        const value = isObject(raw) ? raw[field] : null
        if (items === 'text by key' || !Array.isArray(value)) continue
        for (const item of value) note(item, items, `${field}[].`)
      }
    },
    found: () => [...found.values()],
  }
}

/** Joins the undeclared fields of several answers, each field and type once. */
export function joinDrift(found: readonly Drift[]): Drift[] {
  const drift = new Map(found.map(each => [`${each.type} ${each.field}`, each]))
  return [...drift.values()].slice(0, MAX_DRIFT)
}

/**
 * Returns the declared fields of a delivered row, as JSON that Postgres can hold; null if the row is not an object. Equal
 * content gives equal text, whatever the order of its keys.
 *
 * A value whose type differs from the contract (an object in place of a name) is replaced by the name of its type: like an
 * undeclared field, it may hold secrets. So is a number beyond 64 bits.
 */
export function declaredJson(declared: Declared, raw: unknown): string | null {
  if (!isObject(raw)) return null
  const kept = [...declared.fields]
    .filter(field => Object.hasOwn(raw, field))
    .map(field => [field, declaredValue(raw[field], declared.nested.get(field))])
  return stringifyLossless(cleanText(Object.fromEntries(kept)).value)
}

function shortName(name: string): string {
  return cleanString(name.length > MAX_NAME ? `${name.slice(0, MAX_NAME)}…` : name)
}

/** Returns the type of a JSON value as part of a sentence: `an array`. */
export function typeInWords(value: unknown): string {
  const type = jsonType(value)
  return type === 'null' ? type : `${/^[ao]/.test(type) ? 'an' : 'a'} ${type}`
}

function declaredValue(value: unknown, nested: 'text by key' | ReadonlySet<string> | undefined): unknown {
  if (nested === 'text by key' && isObject(value)) return mapMembers(value)
  if (nested instanceof Set && Array.isArray(value)) {
    return value.map(item => (isObject(item) ? mapMembers(item, nested) : single(item)))
  }
  return single(value)
}

function mapMembers(object: RawRow, fields?: ReadonlySet<string>): RawRow {
  const members = Object.entries(object)
    .filter(([key]) => fields?.has(key) ?? true)
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([key, value]) => [key, single(value)]))
}

function single(value: unknown): unknown {
  const isKept = typeof value === 'number' || typeof value === 'bigint' ? isIn64Bits(value) : !isNested(value)
  return isKept ? value : `(${jsonType(value)}, not kept)`
}

/** Of greater numbers the digits may be lost already, and Postgres holds so many of them only. */
function isIn64Bits(value: number | bigint): boolean {
  return value > -(2n ** 64n) && value < 2n ** 64n
}

function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}

function jsonType(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'array'
  return typeof value === 'bigint' ? 'number' : typeof value
}

function isObject(value: unknown): value is RawRow {
  return isNested(value) && !Array.isArray(value)
}
