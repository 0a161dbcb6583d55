import { parseLossless } from '#src/platform/lossless-json.ts'
import { columnTwice, type Field, nameOf } from './header.ts'
import { type Block, DAMAGE_IN_WORDS, type Reader, type Sink } from './lines.ts'

type ValuesOf = (row: Readonly<Record<string, unknown>>) => readonly unknown[]

/** Reads one JSON object per line. `valuesOf` returns the requested fields of it. */
export class NdjsonReader implements Reader {
  readonly #valuesOf: ValuesOf
  readonly #sink: Sink
  #line = 0
  #rows = 0

  constructor(valuesOf: ValuesOf, sink: Sink) {
    this.#valuesOf = valuesOf
    this.#sink = sink
  }

  /** How many rows it has read. */
  get rows(): number {
    return this.#rows
  }

  read({ text, damaged }: Block): void {
    const firstLine = this.#line
    for (let at = 0; at < text.length; ) {
      const newline = text.indexOf('\n', at)
      const end = newline === -1 ? text.length : newline
      const raw = text.slice(at, text.charCodeAt(end - 1) === CR ? end - 1 : end)
      at = end + 1
      this.#line++
      const damage = damaged.get(this.#line - 1 - firstLine)
      if (damage) this.#sink.damaged(this.#line, damage, DAMAGE_IN_WORDS[damage], raw)
      else if (raw.trim() !== '') this.#take(raw)
    }
  }

  #take(raw: string): void {
    const row = objectIn(raw)
    if (row) {
      this.#rows++
      this.#sink.row(this.#line, this.#valuesOf(row), raw)
    } else this.#sink.damaged(this.#line, 'not JSON', 'the line is not one JSON object', raw)
  }
}

const CR = 13

function objectIn(raw: string): Record<string, unknown> | null {
  try {
    const value = parseLossless(raw)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : null
  } catch {
    return null
  }
}

export type JsonFields = {
  /** Returns the values of the fields in a row, in an array that is used again for the next row. Throws `FileRefused` if a row has a field twice. */
  valuesOf(row: Readonly<Record<string, unknown>>): readonly unknown[]
  /** For each field the key it was found under first; undefined if no row had it. */
  readonly keys: (string | undefined)[]
  /** Keys that are not read. */
  readonly unused: Set<string>
}

/** Keys may differ from row to row: the meaning of this many is remembered. */
const MAX_REMEMBERED = 1000

/**
 * Finds the fields in rows of NDJSON, in each row by its own keys. `inside` is the key of the object that may hold them.
 */
export function openJsonFields(fields: readonly Field[], inside: string | undefined): JsonFields {
  const values: unknown[] = fields.map(() => undefined)
  const ranks: number[] = fields.map(() => Number.POSITIVE_INFINITY)
  const keys: (string | undefined)[] = fields.map(() => undefined)
  const twice: (string | undefined)[] = fields.map(() => undefined)
  const unused = new Set<string>()
  const known = new Map<string, readonly { field: number; rank: number }[]>()
  const candidates = fields.map(field => field.columns.map(nameOf))

  function usesOf(key: string): readonly { field: number; rank: number }[] {
    const before = known.get(key)
    if (before) return before
    const name = nameOf(key)
    const uses = candidates.flatMap((names, field) => {
      const rank = names.indexOf(name)
      return rank === -1 ? [] : [{ field, rank }]
    })
    if (known.size < MAX_REMEMBERED) {
      known.set(key, uses)
      if (uses.length === 0) unused.add(key)
    }
    return uses
  }

  return {
    keys,
    unused,
    valuesOf(outer) {
      const nested = inside === undefined ? undefined : outer[inside]
      const row = isRecord(nested) ? nested : outer
      values.fill(undefined)
      ranks.fill(Number.POSITIVE_INFINITY)
      twice.fill(undefined)
      for (const key of Object.keys(row)) {
        for (const { field, rank } of usesOf(key)) {
          const best = ranks[field] ?? 0
          if (rank === best) twice[field] = key
          if (rank >= best) continue
          ranks[field] = rank
          twice[field] = undefined
          values[field] = row[key]
          keys[field] ??= key
        }
      }
      const field = fields.find((_, n) => twice[n] !== undefined)
      if (field) throw columnTwice('file', twice[fields.indexOf(field)], field)
      return values
    },
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
