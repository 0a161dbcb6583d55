/** Invisible characters: zero-width spaces, soft hyphens, marks of direction, byte order marks. */
const UNSEEN_AT_ENDS = /^[\s\p{Default_Ignorable_Code_Point}]+|[\s\p{Default_Ignorable_Code_Point}]+$/gu
const SEPARATORS_AT_END = /[\s,;\p{Default_Ignorable_Code_Point}]+$/u
/** As mail programs write an address: `Ada Lovelace <ada@example.com>`. */
const WITH_NAME = /^[^<>]*<([^<>]+)>$/

export type CleanAddress = {
  readonly address: string
  /** The kind of text that was removed from it. */
  readonly cleaned: 'unseen characters' | 'name or separator' | null
}

/** Removes from an address what people and programs put around it. An address with nothing around it is returned as it is. */
export function cleanAddress(text: string): CleanAddress {
  if (isPlain(text.charCodeAt(0)) && isPlain(text.charCodeAt(text.length - 1)))
    return { address: text, cleaned: null }
  const seen = withoutUnseen(text)
  const alone = seen.replace(SEPARATORS_AT_END, '')
  const address = withoutUnseen(WITH_NAME.exec(alone)?.[1] ?? alone)
  if (address !== seen) return { address, cleaned: 'name or separator' }
  return { address, cleaned: seen === text ? null : 'unseen characters' }
}

/** Whether it is an ASCII letter or digit: nearly all addresses begin and end with one. */
function isPlain(code: number): boolean {
  return (code >= 97 && code <= 122) || (code >= 65 && code <= 90) || (code >= 48 && code <= 57)
}

function withoutUnseen(text: string): string {
  return text.replace(UNSEEN_AT_ENDS, '')
}
