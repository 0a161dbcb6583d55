/** 32 MB of bits: of five million recipients who are all different, a few thousand are taken for repeated. */
const BITS = 2 ** 28

/**
 * Returns what says whether a hash may have been asked about before: certain if it says no. Its memory is the same for
 * any number of rows (a Bloom filter), and so Postgres need only look for duplicates of the few it says yes to.
 */
export function openSeenBefore(): (hash: string) => boolean {
  const bits = new Uint32Array(BITS / 32)

  /** Sets the bit that four characters of the hash name; answers whether it was set. */
  function setBit(hash: string, from: number): boolean {
    const byte = (n: number) => hash.charCodeAt(from + n)
    const bit = (((byte(0) << 24) | (byte(1) << 16) | (byte(2) << 8) | byte(3)) >>> 0) % BITS
    const word = bits[bit >>> 5] ?? 0
    const mask = 1 << (bit & 31)
    if ((word & mask) !== 0) return true
    bits[bit >>> 5] = word | mask
    return false
  }

  return hash => {
    const first = setBit(hash, 0)
    return setBit(hash, 4) && first
  }
}
