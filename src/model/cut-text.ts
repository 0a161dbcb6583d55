/** Returns a text of at most `maxLength` code units; one that was cut ends with `…`. Never cuts through a character. */
export function cutText(text: string, maxLength: number): string {
  return text.length <= maxLength ? text : `${firstOf(text, maxLength - 1)}…`
}

/** Returns the beginning of a text: at most `length` code units, and no half of a surrogate pair. */
export function firstOf(text: string, length: number): string {
  const end = isHighSurrogate(text, length - 1) ? length - 1 : length
  return text.slice(0, Math.max(0, end))
}

/** Returns the end of a text: at most `length` code units, and no half of a surrogate pair. */
export function lastOf(text: string, length: number): string {
  const start = Math.max(0, text.length - length)
  return text.slice(isHighSurrogate(text, start - 1) ? start + 1 : start)
}

function isHighSurrogate(text: string, at: number): boolean {
  const code = text.charCodeAt(at)
  return code >= 0xd800 && code <= 0xdbff && at + 1 < text.length
}
