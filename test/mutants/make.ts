import ts from 'typescript'
import type { Code, Scope } from './code.ts'
import { type Site, type Token, tokensOf } from './sites.ts'

/** What a mutant does, and where. */
export type Change = {
  /** The part of the code, as `Code` understands it. */
  readonly scope: string
  readonly operator: Operator
  /** What stands in the place that is meant; the smallest place that has them all is changed. */
  readonly words: readonly string[]
  /** Which place, where several are as small: the first is 1. */
  readonly nth: number | null
  /** For `make` and `swap`: what stands there instead; in it `~` is what stood there. */
  readonly replacement: string | null
}

export const OPERATORS = ['drop', 'without', 'unwrap', 'later', 'make', 'swap'] as const
export type Operator = (typeof OPERATORS)[number]

export type Made = {
  readonly file: string
  readonly before: string
  readonly after: string
  /** Where the new text is in `after`. */
  readonly from: number
  readonly to: number
}

/** The file of a mutant, and its text before and after; or why it cannot be made of the code as it is now. */
export function makeMutant(code: Code, change: Change): Made | { readonly stale: string } {
  const [scope, ...more] = code(change.scope)
  if (!scope) return { stale: `there is no ${change.scope}` }
  if (more.length > 0) {
    const files = [scope, ...more].map(({ file }) => file).join(', ')
    return { stale: `there are several ${change.scope}: in ${files}` }
  }
  const edits = editsOf(scope, change)
  const edit = change.nth === null ? edits[0] : edits[change.nth - 1]
  const meant = `${change.scope} ${change.operator} ${change.words.join(' ')}`
  if (!edit) {
    const lacking = change.words.filter(word => placesOf(scope.tokens(), word).length === 0)
    const why = lacking.length > 0 ? `there is no ${lacking.join(', no ')} there` : 'nothing there is so'
    return { stale: `no place for "${meant}" in ${scope.file}: ${why}` }
  }
  if (change.nth === null && edits.length > 1) {
    return {
      stale: `${edits.length} places for "${meant}" in ${scope.file}: add a word, or @1 to @${edits.length}`,
    }
  }
  const { file, text: before } = scope
  const after = before.slice(0, edit.from) + edit.text + before.slice(edit.to)
  if (after === before) return { stale: `"${meant}" changes nothing in ${file}` }
  return { file, before, after, from: edit.from, to: edit.from + edit.text.length }
}

function editsOf(scope: Scope, { operator, words, replacement }: Change): Site['edit'][] {
  const tokens = scope.tokens()
  if (operator === 'swap') {
    const around = words.length === 1 ? [scope] : smallest(scope.sites(), tokens, words)
    const swapped = placesOf(tokens, words[0] ?? '').filter(place => around.some(range => isIn(place, range)))
    return swapped.map(({ from, to }) => {
      const old = scope.text.slice(from, to)
      return { from, to, text: (replacement ?? '').replaceAll('~', () => old) }
    })
  }
  const sites = scope.sites().filter(site => site.operator === operator)
  return smallest(sites, tokens, words).map(({ edit }) => {
    if (operator !== 'make') return edit
    const old = scope.text.slice(edit.from, edit.to)
    return { ...edit, text: edit.text + (replacement ?? '').replaceAll('~', () => old) }
  })
}

/** Of the places that hold all words those in which no other does. */
function smallest(sites: readonly Site[], tokens: readonly Token[], words: readonly string[]): Site[] {
  const places = words.map(word => placesOf(tokens, word))
  const holding = sites.filter(site => places.every(ofWord => ofWord.some(place => isIn(place, site))))
  return holding.filter(
    (site, n) =>
      !holding.some(
        (other, k) => isIn(other, site) && (!isIn(site, other) || (k < n && isEdit(other, site))),
      ),
  )
}

/** Where a word stands; one like `call.id` is several tokens in a row. */
function placesOf(tokens: readonly Token[], word: string): Range[] {
  const [first, ...rest] = tokensOf(word)
  return tokens.flatMap((token, n) => {
    if (token.word !== first?.word || rest.some(({ word }, k) => tokens[n + 1 + k]?.word !== word)) return []
    return [{ from: token.from, to: tokens[n + rest.length]?.to ?? token.to }]
  })
}

type Range = { readonly from: number; readonly to: number }

/** Whether two places are changed alike. */
function isEdit({ edit: one }: Site, { edit: other }: Site): boolean {
  return one.from === other.from && one.to === other.to && one.text === other.text
}

function isIn(inner: Range, outer: Range): boolean {
  return inner.from >= outer.from && inner.to <= outer.to
}

/** Why a mutant only breaks its file: it is no TypeScript any more, or has a name that the file does not know. */
export function faultOf({ file, before, after, from, to }: Made): string | null {
  if (!file.endsWith('.ts')) return null
  const faults: string[] = []
  const visit = (node: ts.Node): void => {
    if (node.end < from || node.pos > to) return
    if (node.flags & ts.NodeFlags.ThisNodeHasError) faults.push(`${file} is no TypeScript any more`)
    const { parent } = node
    const isOfOther = parent && (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent))
    const isName = ts.isIdentifier(node) && !(isOfOther && parent.name === node)
    if (isName && !before.includes(node.text) && !(node.text in globalThis)) {
      faults.push(`${file} has no ${node.text}`)
    }
    ts.forEachChild(node, visit)
  }
  visit(ts.createSourceFile(file, after, ts.ScriptTarget.Latest, true))
  return faults[0] ?? null
}
