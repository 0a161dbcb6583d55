import { CLOSE_BRACKET, COMMA, OPEN_BRACKET, QUOTE } from './ascii.ts'
import type { ByteWriter } from './byte-writer.ts'
import { endOfString } from './plain-members.ts'

/** From here on, UTF-8 is in another order than JavaScript's strings. */
const PRIVATE_USE = 0xee

/** More are rare, and would take longer to sort. */
const MAX_LABELS = 50

/** Writes labels, as `PlainMembers` finds them, in the order of their keys. */
export class PlainLabels {
  /** Where the keys begin with their quotes, in their order. */
  readonly #keys = new Int32Array(MAX_LABELS)

  /**
   * Writes the canonical form of the labels at `at`. Writes nothing and returns false if there are too many, or if it cannot tell
   * the order of two keys; they may be the same.
   */
  write(bytes: Buffer, at: number, into: ByteWriter): boolean {
    const count = this.#sort(bytes, at)
    if (count === -1) return false
    into.put(OPEN_BRACKET)
    for (let n = 0; n < count; n++) {
      const key = this.#keys[n] as number
      const colon = endOfString(bytes, key)
      if (n > 0) into.put(COMMA)
      into.put(OPEN_BRACKET)
      into.add(bytes, key, colon)
      into.put(COMMA)
      into.add(bytes, colon + 1, endOfString(bytes, colon + 1))
      into.put(CLOSE_BRACKET)
    }
    into.put(CLOSE_BRACKET)
    return true
  }

  /** Finds the keys and sorts them. Returns how many there are, or -1. */
  #sort(bytes: Buffer, at: number): number {
    const keys = this.#keys
    let count = 0
    for (let key = at + 1; bytes[key] === QUOTE; key = endOfString(bytes, endOfString(bytes, key) + 1) + 1) {
      if (count === MAX_LABELS) return -1
      let place = count++
      for (; place > 0; place--) {
        const order = compareKeys(bytes, keys[place - 1] as number, key)
        if (order === 0) return -1
        if (order < 0) break
        keys[place] = keys[place - 1] as number
      }
      keys[place] = key
    }
    return count
  }
}

/** Negative if the first key comes first; 0 if they are equal, or not in the order of their bytes. */
function compareKeys(bytes: Buffer, one: number, other: number): number {
  for (let n = 1; ; n++) {
    const a = bytes[one + n] as number
    const b = bytes[other + n] as number
    if (a === b && a !== QUOTE) continue
    if (a === QUOTE || b === QUOTE) return Number(b === QUOTE) - Number(a === QUOTE)
    return a < PRIVATE_USE || b < PRIVATE_USE ? a - b : 0
  }
}
