import type { Appearance } from '#src/inventory/states.ts'
import { firstOf } from '#src/model/cut-text.ts'
import type { AnyRow, Fields } from '#src/model/fields.ts'

/** A value of an open set, and whether a row has it that is not of a first reading. */
export type FoundValue = { readonly field: string; readonly value: string; readonly isNews: boolean }

/** So many values of a field are remembered, with so much of each: those of invented ones must not fill the memory. */
const MAX_VALUES = 1_000
const MAX_LENGTH = 400

/** What the end of a run needs to know of the versions that it opened: to ask Postgres would read each of them again. */
export class Opened {
  firstRead = 0
  readonly #found: ReadonlyMap<string, Map<string, boolean>>

  constructor(fields: Fields) {
    const open = Object.keys(fields).filter(name => fields[name]?.isOpenSet)
    this.#found = new Map(open.map(name => [name, new Map()]))
  }

  add(row: AnyRow, appeared: Appearance | null): void {
    const isNews = appeared !== 'first reading'
    if (!isNews) this.firstRead += 1
    for (const [field, found] of this.#found) {
      const whole = row[field]
      if (typeof whole !== 'string') continue
      const value = firstOf(whole, MAX_LENGTH)
      const before = found.get(value)
      if (before === true || (before === undefined && found.size >= MAX_VALUES)) continue
      if (before === undefined || isNews) found.set(value, isNews)
    }
  }

  /** Becomes the same as the other. */
  assign(other: Opened): void {
    this.firstRead = other.firstRead
    for (const [field, found] of this.#found) {
      found.clear()
      for (const [value, isNews] of other.#found.get(field) ?? []) found.set(value, isNews)
    }
  }

  /** The values of open sets. */
  values(): FoundValue[] {
    return [...this.#found].flatMap(([field, found]) =>
      [...found].map(([value, isNews]) => ({ field, value, isNews })),
    )
  }
}
