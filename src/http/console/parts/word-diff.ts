import { diffWordsWithSpace } from 'diff'
import { counted } from '#src/model/counted.ts'
import { firstOf, lastOf } from '#src/model/cut-text.ts'
import { type Html, type HtmlValue, html } from '../html.ts'

export type DiffPart = { readonly kind: 'same' | 'removed' | 'added'; readonly text: string }

/** Comparing costs time by the words and by how many of them differ: two texts up to these take some milliseconds. */
const MAX_COMPARED_CHARACTERS = 20_000
const MAX_EDITS = 200

/** If less than this part of the longer text stayed, a mix of both is harder to read than one after the other. */
const MIN_SHARED = 0.3

/**
 * Which words of the old text went, and which came into the new one: what stayed and went is the old text, what stayed and
 * came is the new one. Texts that are too long or too different are shown whole, one after the other.
 */
export function diffWords(before: string, after: string): DiffPart[] {
  const whole = oneAfterTheOther(before, after)
  // What is no text in words, such as a cron pattern or an id, is read whole.
  if (!/\p{L}/u.test(before + after)) return whole
  if (before.length + after.length > MAX_COMPARED_CHARACTERS) return whole
  const changes = diffWordsWithSpace(before, after, { maxEditLength: MAX_EDITS })
  const shared = (changes ?? [])
    .filter(({ added, removed }) => !added && !removed)
    .reduce((sum, { value }) => sum + value.trim().length, 0)
  if (!changes || shared < MIN_SHARED * Math.max(before.length, after.length)) return whole
  return changes.map(({ added, removed, value }) => ({
    kind: added ? 'added' : removed ? 'removed' : 'same',
    text: value,
  }))
}

function oneAfterTheOther(before: string, after: string): DiffPart[] {
  return [
    { kind: 'removed', text: before },
    { kind: 'added', text: after },
  ]
}

/** The most characters shown of each part of a difference; the rest are counted. */
const MAX_SHOWN = { same: 120, removed: 600, added: 600 } as const

/** A difference of more parts is shown as the two texts, one after the other. */
const MAX_PARTS = 24

/** Shown whole, unless it is longer than this: nobody misses a word of a usual text. */
const MAX_WHOLE = 4_000

/** How a piece of text is shown. */
export type Show = (text: string) => HtmlValue

const asItIs: Show = text => text

/** The old and the new text in one: what went is struck out, what came is underlined. */
export function wordDiff(before: string, after: string, show = asItIs): Html {
  const isWhole = before.length + after.length <= MAX_WHOLE
  const found = diffWords(before, after).filter(({ text }) => text !== '')
  const parts = isWhole || found.length <= MAX_PARTS ? found : oneAfterTheOther(before, after)
  const shown = (text: string, kind: DiffPart['kind']) =>
    isWhole ? html`${show(text)}` : shortened(text, MAX_SHOWN[kind], show)
  const isReplaced = parts.length === 2 && parts.every(({ kind }) => kind !== 'same')
  return html`<span class="words">${parts.map(({ kind, text }) => {
    if (kind === 'same') return html`<bdi>${shown(text, kind)}</bdi>`
    if (kind === 'added') return html`<ins>${shown(text, kind)}</ins>`
    return html`<del>${shown(text, kind)}</del>${isReplaced ? ARROW : null}`
  })}</span>`
}

export const ARROW = html`<span class="arrow"> → </span>`

/** The beginning and the end of a text that is too long. */
export function shortened(text: string, maxCharacters: number, show = asItIs): Html {
  if (text.length <= maxCharacters) return html`${show(text)}`
  const first = firstOf(text, Math.ceil(maxCharacters / 2))
  const last = lastOf(text, Math.floor(maxCharacters / 2))
  const left = text.length - first.length - last.length
  return html`${show(first)}<span class="cut"> … ${counted(left, 'character')} … </span>${show(last)}`
}
