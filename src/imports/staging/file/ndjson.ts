import { parseLossless } from '#src/platform/lossless-json.ts'
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
