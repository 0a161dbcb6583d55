const FIRST_LENGTH = 2048

/** Finds numbers of rows by a hash: open addressing, at most half full. */
export class SlotIndex {
  /** Null for a row that is not to be found. */
  readonly #hashOf: (row: number) => number | null
  #slots = new Int32Array(FIRST_LENGTH)
  #used = 0

  constructor(hashOf: (row: number) => number | null) {
    this.#hashOf = hashOf
  }

  /** Returns the first row with this hash that `matches`, or -1. */
  find(hash: number, matches: (row: number) => boolean): number {
    const mask = this.#slots.length - 1
    for (let at = mixed(hash) & mask; ; at = (at + 1) & mask) {
      const slot = this.#slots[at] ?? 0
      if (slot === 0) return -1
      if (matches(slot - 1)) return slot - 1
    }
  }

  /** Adds the newest of `rows` rows, or one whose hash has changed: what it had before stays, and matches nothing. */
  add(row: number, rows: number): void {
    if (this.#used >= this.#slots.length / 2) this.#rebuild(rows)
    this.#put(row)
  }

  #rebuild(rows: number): void {
    let length = this.#slots.length
    // An eighth stays free at least, or each of the next rows would rebuild it again.
    while (length * 3 < rows * 8) length *= 2
    this.#slots = new Int32Array(length)
    this.#used = 0
    for (let row = 0; row < rows; row++) this.#put(row)
  }

  #put(row: number): void {
    const hash = this.#hashOf(row)
    if (hash === null) return
    const mask = this.#slots.length - 1
    let at = mixed(hash) & mask
    while (this.#slots[at] !== 0) {
      if (this.#slots[at] === row + 1) return
      at = (at + 1) & mask
    }
    this.#slots[at] = row + 1
    this.#used += 1
  }
}

/** Spreads numbers that lie close together. */
function mixed(hash: number): number {
  const once = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b)
  return (once ^ (once >>> 13)) >>> 0
}
