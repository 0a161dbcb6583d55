import {
  type Difference,
  differencesBetween,
  fieldsFrom,
  valueInWords,
} from '#src/inventory/history/differences.ts'
import { number } from '#src/model/counted.ts'
import { OUTSIDE_BASIC_VIEW } from '#src/model/declarations.ts'
import type { Resource } from '#src/model/resource.ts'
import { type Html, html } from '../html.ts'
import { foreign } from './values.ts'
import { looksSame, marked, visible } from './visible.ts'
import { ARROW, type Show, shortened, wordDiff } from './word-diff.ts'

type Altered = { readonly resource: Resource; readonly before: string | null; readonly after: string | null }

/** How many characters of HTML the differences of a page may still take: fields that come after it is used up are counted. */
export type Room = { left: number }

export function openRoom(): Room {
  return { left: 100_000 }
}

/**
 * What a change altered: each field with its old and its new value, texts word by word. At most `max` fields, and no more than
 * the page has room for. Invisible characters have marks in what MCP servers say, and where nothing else differs. Null if there is
 * nothing to compare.
 */
export function differencesList(
  { resource, before, after }: Altered,
  max: number,
  room: Room,
  more?: string,
): Html | null {
  const all = differencesBetween(fieldsFrom(before), fieldsFrom(after))
  if (all.length === 0) return before && after ? html`<span class="none">${OUTSIDE_BASIC_VIEW}</span>` : null
  const isMcp = resource === 'mcp-servers'
  const shown: Html[] = []
  for (const { field, ...values } of all.slice(0, max)) {
    if (room.left <= 0) break
    const one = html`<div><dt>${isMcp ? visible(field) : foreign(field)}</dt><dd>${difference(values, isMcp)}</dd></div>`
    room.left -= `${one}`.length
    shown.push(one)
  }
  const rest = all.length - shown.length
  return html`<dl class="differences">${shown}</dl>
${rest > 0 ? html`<p class="quiet">and ${number(rest)} more${more ? html`: <a href="${more}">all of them</a>` : null}</p>` : null}`
}

const MAX_VALUE_CHARACTERS = 600

function difference({ before, after }: Pick<Difference, 'before' | 'after'>, isMcp: boolean): Html {
  const show: Show = isMcp || looksSame(textIn(before), textIn(after)) ? marked : text => text
  if (typeof before === 'string' && typeof after === 'string' && before !== '' && after !== '') {
    return wordDiff(before, after, show)
  }
  return html`<span class="words"><del>${value(before, show)}</del>${ARROW}<ins>${value(after, show)}</ins></span>`
}

function value(given: unknown, show: Show): Html {
  if (given === undefined || given === null) return html`<span class="none">none</span>`
  if (given === '') return html`<span class="none">(empty)</span>`
  return shortened(textIn(given), MAX_VALUE_CHARACTERS, show)
}

function textIn(given: unknown): string {
  if (given === undefined || given === null) return ''
  return typeof given === 'string' ? given : valueInWords(given)
}
