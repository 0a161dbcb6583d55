/** 32 MB of bits, in blocks of the size of a processor's cache line. */
const WORDS_A_BLOCK = 16
const BLOCKS = 2 ** 19

/**
 * Returns a function that tells whether it may have been called with a hash before. "No" is certain. Its memory is the same
 * for any number of rows (a blocked Bloom filter). Of five million hashes that are all different, some hundred seem to be
 * repeated; Postgres looks for duplicates of these only.
 */
export function openSeenBefore(): (hash: string) => boolean {
  const words = new Uint32Array(BLOCKS * WORDS_A_BLOCK)
  return hash => {
    const byte = (n: number) => hash.charCodeAt(n)
    const block = ((byte(0) << 16) | (byte(1) << 8) | byte(2)) % BLOCKS
    let seen = true
    // Four bits of the block's 512, each named by a byte and a ninth bit.
    for (let n = 0; n < 4; n++) {
      const bit = (byte(3 + n) << 1) | ((byte(7) >> n) & 1)
      const at = block * WORDS_A_BLOCK + (bit >>> 5)
      const word = words[at] ?? 0
      const mask = 1 << (bit & 31)
      if ((word & mask) !== 0) continue
      seen = false
      words[at] = word | mask
    }
    return seen
  }
}
