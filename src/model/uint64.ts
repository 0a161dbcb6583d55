/** The greatest id of the platform: most of its ids are integers from 0 on of 64 bits. */
export const MAX_UINT64 = 2n ** 64n - 1n

/** An id of the platform as a person writes it; null if the text is none. */
export function uint64Of(text: string): bigint | null {
  const id = /^\d{1,20}$/.test(text) ? BigInt(text) : null
  return id === null || id > MAX_UINT64 ? null : id
}
