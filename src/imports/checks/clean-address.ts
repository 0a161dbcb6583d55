/** What has no looks of its own: zero-width spaces, soft hyphens, marks of direction, byte order marks. */
const UNSEEN_AT_ENDS = /^[\s\p{Default_Ignorable_Code_Point}]+|[\s\p{Default_Ignorable_Code_Point}]+$/gu
const SEPARATORS_AT_END = /[\s,;\p{Default_Ignorable_Code_Point}]+$/u
/** As mail programs write an address: `Ada Lovelace <ada@example.com>`. */
const WITH_NAME = /^[^<>]*<([^<>]+)>$/

/** What nearly all addresses begin and end with. */
const PLAIN_ENDS = /^[a-z0-9](?:.*[a-z0-9])?$/is

export type CleanAddress = {
  readonly address: string
  /** What was done to it: characters that cannot be seen taken off, or a name or a separator. */
  readonly cleaned: 'unseen characters' | 'name or separator' | null
}

/** Takes off an address what people and programs have put around it. Where nothing is to be taken off it is as it was. */
export function cleanAddress(text: string): CleanAddress {
  if (PLAIN_ENDS.test(text)) return { address: text, cleaned: null }
  const seen = withoutUnseen(text)
  const alone = seen.replace(SEPARATORS_AT_END, '')
  const address = withoutUnseen(WITH_NAME.exec(alone)?.[1] ?? alone)
  if (address !== seen) return { address, cleaned: 'name or separator' }
  return { address, cleaned: seen === text ? null : 'unseen characters' }
}

function withoutUnseen(text: string): string {
  return text.replace(UNSEEN_AT_ENDS, '')
}
