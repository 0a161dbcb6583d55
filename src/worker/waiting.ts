/** By then a worker has begun what a wake-up is for, if it has the account and room. */
const WOKEN_WITHIN_MS = 3_000

/** Remembers since when things have been waiting, from one look to the next. */
export class Waiting<T> {
  readonly #nameOf: (thing: T) => string
  #sinceMs: ReadonlyMap<string, number> = new Map()

  constructor(nameOf: (thing: T) => string) {
    this.#nameOf = nameOf
  }

  /** Takes what waits now. Returns what has waited at each look for so long that its wake-ups must have been lost. */
  look(things: readonly T[]): T[] {
    const nowMs = performance.now()
    const since = (thing: T) => this.#sinceMs.get(this.#nameOf(thing)) ?? nowMs
    this.#sinceMs = new Map(things.map(thing => [this.#nameOf(thing), since(thing)]))
    return things.filter(thing => nowMs - since(thing) >= WOKEN_WITHIN_MS)
  }
}
