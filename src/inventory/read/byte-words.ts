/** 16 bytes, a fingerprint or the half of a digest, as numbers of 32 bits: 16 bytes in an array, where a text takes 32. */
export const WORDS = 4

/** Writes the first 16 characters of a text, of one byte each, into `words` as the row's numbers. */
export function readBytes(bytes: string, words: Uint32Array, row = 0): void {
  for (let word = 0, at = 0; word < WORDS; word++, at += 4) {
    words[row * WORDS + word] =
      bytes.charCodeAt(at) |
      (bytes.charCodeAt(at + 1) << 8) |
      (bytes.charCodeAt(at + 2) << 16) |
      (bytes.charCodeAt(at + 3) << 24)
  }
}

/** Returns the 16 characters that the row's numbers hold. */
export function bytesOf(words: Uint32Array, row: number): string {
  return String.fromCharCode(
    ...Array.from(
      { length: 4 * WORDS },
      (_, n) => ((words[row * WORDS + (n >> 2)] ?? 0) >> (8 * (n & 3))) & 255,
    ),
  )
}

/** Whether two rows of two arrays hold the same. */
export function areSame(one: Uint32Array, row: number, other: Uint32Array, otherRow: number): boolean {
  for (let word = 0; word < WORDS; word++) {
    if (one[row * WORDS + word] !== other[otherRow * WORDS + word]) return false
  }
  return true
}
