import {
  type Difference,
  differencesBetween,
  type Fields,
  fieldsFrom,
  valueInWords,
} from '#src/inventory/differences.ts'
import { number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { foreign } from './values.ts'
import { ARROW, shortened, wordDiff } from './word-diff.ts'

/** What a change altered: each field with its old and its new value, texts word by word. At most `max` fields. */
export function differencesList(
  { before, after }: { readonly before: string | null; readonly after: string | null },
  max: number,
  more?: string,
): Html | null {
  const all = differencesIn(fieldsFrom(before), fieldsFrom(after))
  if (all.length === 0) return null
  const rest = all.length - max
  return html`<dl class="differences">${all.slice(0, max).map(({ field, ...values }) => html`<div><dt>${foreign(field)}</dt><dd>${difference(values)}</dd></div>`)}</dl>
${rest > 0 ? html`<p class="quiet">and ${number(rest)} more${more ? html`: <a href="${more}">all of them</a>` : null}</p>` : null}`
}

/** Tools are compared by their names: in a list, one more would change all that follow. */
function differencesIn(before: Fields | null, after: Fields | null): Difference[] {
  const [old, now] = [toolsByName(before), toolsByName(after)]
  if (!before || !after || !old || !now) return differencesBetween(before, after)
  // The tools come last: they may be many.
  const found = differencesBetween(withTools(before, old), withTools(after, now))
  const isSameTools = !found.some(({ field }) => field.startsWith('tools.'))
  return isSameTools ? [...found, { field: 'tools', before: namesIn(old), after: namesIn(now) }] : found
}

function withTools({ tools: _, ...others }: Fields, tools: Fields): Fields {
  return { ...others, tools }
}

/** The description of each tool by its name; the second of a name is `name (2)`. Null if there is no list of tools. */
function toolsByName(fields: Fields | null): Fields | null {
  if (!Array.isArray(fields?.tools)) return null
  const seen = new Map<string, number>()
  const entries = (fields.tools as readonly { name?: unknown; description?: unknown }[]).map(tool => {
    const name = `${tool?.name ?? ''}`
    const nth = (seen.get(name) ?? 0) + 1
    seen.set(name, nth)
    return [nth === 1 ? name : `${name} (${nth})`, `${tool?.description ?? ''}`] as const
  })
  return Object.fromEntries(entries)
}

function namesIn(tools: Fields): string {
  return Object.keys(tools).join(', ')
}

const MAX_VALUE_CHARACTERS = 600

function difference({ before, after }: Pick<Difference, 'before' | 'after'>): Html {
  if (typeof before === 'string' && typeof after === 'string' && before !== '' && after !== '') {
    return wordDiff(before, after)
  }
  return html`<span class="words"><del>${value(before)}</del>${ARROW}<ins>${value(after)}</ins></span>`
}

function value(given: unknown): Html {
  if (given === undefined || given === null) return html`<span class="none">none</span>`
  if (given === '') return html`<span class="none">(empty)</span>`
  return shortened(typeof given === 'string' ? given : valueInWords(given), MAX_VALUE_CHARACTERS)
}
