/** Characters that JSON may hold as they are, and that a terminal takes as commands, or that turn the text around them. */
const UNSAFE = /[\x7f-\x9f\u2028\u2029\p{Bidi_Control}]/gu

/** Returns the value as JSON that is safe to print. Ids (bigint) are text in it: they may exceed 2^53. */
export function jsonOf(value: object): string {
  return safeJson(JSON.stringify(value, (_, part) => (typeof part === 'bigint' ? part.toString() : part)))
}

/** Returns the same JSON, safe to print. */
export function safeJson(json: string): string {
  return json.replaceAll(UNSAFE, character => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)
}
