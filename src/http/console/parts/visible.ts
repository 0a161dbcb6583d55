import { type Html, html } from '../html.ts'
import { shortened } from './word-diff.ts'

/**
 * Characters that show nothing, or turn the direction of text: they can hide instructions for a model from people. Those
 * of the view `ferry.mcp_risk`, and control characters.
 */
export const INVISIBLE =
  // biome-ignore lint/suspicious/noMisleadingCharacterClass: each is meant for itself
  /[\p{Cc}\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028\u2029\u202A-\u202E\u2060-\u206F\u3164\uFE00-\uFE0F\uFEFF\uFFA0\uFFF9-\uFFFB\u{E0000}-\u{E0FFF}]/u

const ONE_INVISIBLE = new RegExp(`(${INVISIBLE.source})`, 'u')

/** Text in which a mark such as `U+200B` stands for each invisible character. Lines and tabs stay. */
export function marked(text: string): Html {
  return html`${inPieces(text, name => html`<mark class="hidden-character">${name}</mark>`)}`
}

/** The most marks in a text; the other invisible characters are left out and counted. */
const MAX_MARKS = 20

/** The pieces of a text, with what `show` makes of the name of each invisible character in its place. */
function inPieces<Shown>(text: string, show: (name: string) => Shown): (string | Shown)[] {
  let found = 0
  const pieces = text.split(ONE_INVISIBLE).flatMap(part => {
    if (part === '\n' || part === '\t' || !INVISIBLE.test(part)) return part
    found += 1
    return found <= MAX_MARKS ? show(nameOf(part)) : []
  })
  return found > MAX_MARKS ? [...pieces, show(`${found - MAX_MARKS} more invisible`)] : pieces
}

const EMOJI = /(\p{RGI_Emoji})/v

/**
 * Text in which the name of each invisible character stands in its place, where no marks are possible. Those of which an emoji
 * is made stay.
 */
export function namedInWords(text: string): string {
  return text
    .split(EMOJI)
    .flatMap((part, index) => (index % 2 === 1 ? part : inPieces(part, name => name)))
    .join('')
}

/** Whether two texts look the same to a person, since only invisible characters differ. */
export function looksSame(one: string, other: string): boolean {
  return withoutInvisible(one) === withoutInvisible(other)
}

function withoutInvisible(text: string): string {
  return text
    .split(ONE_INVISIBLE)
    .filter(part => !INVISIBLE.test(part))
    .join('')
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Text of others on the pages of MCP: its beginning and end if it is long, with marks for what is invisible. */
export function visible(text: string | null, maxCharacters = 300): Html {
  if (text === null || text === '') return html`<span class="none">–</span>`
  return html`<bdi class="words">${shortened(text, maxCharacters, marked)}</bdi>`
}
