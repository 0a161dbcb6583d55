/** Returns a number from 0 (included) to 1 (excluded). */
export type Random = () => number

/** The same numbers for the same seed, on every machine (mulberry32). */
export function seededRandom(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** An integer from `low` to `high`, both possible. */
export function between(random: Random, low: number, high: number): number {
  return low + Math.floor(random() * (high - low + 1))
}

export function pick<T>(random: Random, list: readonly T[]): T {
  return list[Math.floor(random() * list.length)] as T
}

/** Fisher and Yates, in place. */
export function shuffle<T>(random: Random, list: T[]): void {
  for (let last = list.length - 1; last > 0; last--) {
    const other = between(random, 0, last)
    const held = list[last] as T
    list[last] = list[other] as T
    list[other] = held
  }
}
