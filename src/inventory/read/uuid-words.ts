/** A uuid as numbers of 32 bits: 16 bytes in an array of numbers, where a text takes fifty. */
export const UUID_WORDS = 4

const DASH = 0x2d
const ZERO = 0x30
const A = 0x61

/** Writes a uuid into `words` as the row's numbers. */
export function readUuid(uuid: string, words: Uint32Array, row = 0): void {
  let digits = 0
  let word = 0
  for (let at = 0; at < uuid.length; at++) {
    const code = uuid.charCodeAt(at)
    if (code === DASH) continue
    word = (word << 4) | (code < A ? code - ZERO : code - A + 10)
    digits += 1
    if (digits % 8 === 0) words[row * UUID_WORDS + digits / 8 - 1] = word
  }
}

/** Returns the uuid that the row's numbers hold. */
export function uuidOf(words: Uint32Array, row: number): string {
  const hex = (word: number) => (words[row * UUID_WORDS + word] ?? 0).toString(16).padStart(8, '0')
  const [a, b, c, d] = [hex(0), hex(1), hex(2), hex(3)]
  return `${a}-${b.slice(0, 4)}-${b.slice(4)}-${c.slice(0, 4)}-${c.slice(4)}${d}`
}
