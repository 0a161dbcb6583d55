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
  return html`${text.split(ONE_INVISIBLE).map(part => {
    if (part === '\n' || part === '\t' || !INVISIBLE.test(part)) return part
    return html`<mark class="hidden-character">${nameOf(part)}</mark>`
  })}`
}

function nameOf(character: string): string {
  return `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`
}

/** Text of others on the pages of MCP: its beginning and end if it is long, with marks for what is invisible. */
export function visible(text: string | null, maxCharacters = 300): Html {
  if (text === null || text === '') return html`<span class="none">–</span>`
  return html`<bdi class="words">${shortened(text, maxCharacters, marked)}</bdi>`
}
