/** Returns the value as JSON. Ids (bigint) are text in it: they may exceed 2^53. */
export function jsonOf(value: object): string {
  return JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part))
}
