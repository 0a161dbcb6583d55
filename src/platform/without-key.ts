import { decodedText, holds, withoutWords } from '#src/model/addresses.ts'
import { firstOf } from '#src/model/cut-text.ts'

const MASK = '<API_KEY>'

/** A shorter key may be in the middle of any word. */
const SHORTEST_SPELLED = 8

/** No more of a text is decoded, and less is shown of any. */
const MAX_DECODED = 50_000

/**
 * Returns text of the platform without a key, however it is spelled: as it is, in a URL, escaped, in other letters, in base64. Of a
 * text that has it in such a spelling, only the beginning is left.
 */
export function withoutKey(text: string, key: string): string {
  const plain = text.replaceAll(key, MASK).replaceAll(encodeURIComponent(key), MASK)
  if (key.length < SHORTEST_SPELLED) return plain
  const spelled = new RegExp(RegExp.escape(key), 'i')
  const hasKey = (part: string) => holds(part, decoded => spelled.test(decoded))
  const begin = firstOf(plain, MAX_DECODED)
  if (!hasKey(begin)) return plain
  return withoutWords(decodedText(begin).replace(new RegExp(spelled, 'gi'), MASK), hasKey, MASK) ?? MASK
}
