import { listSites, type Site, type Token, tokensOf } from './sites.ts'

const CLAUSES = new Set(
  (
    'select from where group order having limit offset for join left cross on set values returning into union ' +
    'when then else elsif end if case begin loop return using perform declare'
  ).split(' '),
)
/** No clause goes beyond these. */
const ENDS = new Set([';', '$$'])
/** A clause that can go as a whole. */
const OPTIONAL = new Set('where group order having limit offset for on returning else union'.split(' '))
const OPENS_A_BODY = new Set('then else begin loop declare $$'.split(' '))
const CLOSING: Record<string, string> = { '(': ')', '[': ']', '{': '}' }

/**
 * What the operators can change in a part of a text that is SQL, or nearly: it knows brackets, clauses, lists, conditions
 * and statements, no grammar.
 */
export function sqlSites(text: string, from: number, to: number): Site[] {
  const sites: Site[] = []
  const tokens = tokensOf(text, from, to)
  let at = 0
  level(null)
  return sites

  /** Reads up to the bracket that closes, or the end. */
  function level(closing: string | null): void {
    const here: Token[] = []
    for (let token = tokens[at]; token && token.word !== closing; token = tokens[at]) {
      at++
      const closedBy = CLOSING[token.word]
      if (closedBy === undefined) {
        here.push(token)
        continue
      }
      level(closedBy)
      const end = tokens[at++] ?? token
      group(here.at(-1), token, end)
      here.push({ word: '()', from: token.from, to: end.to })
    }
    statements(here)
    for (const part of splitBefore(here, word => CLAUSES.has(word) || ENDS.has(word)))
      clause(part, closing === ')' || closing === ']')
  }

  /** A call becomes what stands in its brackets. */
  function group(name: Token | undefined, opening: Token, end: Token): void {
    const inner = { from: opening.to, to: end.from }
    if (!name || !/^\w/.test(name.word) || CLAUSES.has(name.word.toLowerCase())) return
    const whole = { from: name.from, to: end.to }
    const edit = { ...whole, text: text.slice(inner.from, inner.to) }
    sites.push({ operator: 'unwrap', from: name.from, to: name.to, edit })
    sites.push({ operator: 'make', ...whole, edit: { ...whole, text: '' } })
  }

  function statements(here: readonly Token[]): void {
    let first = 0
    for (const [n, { word, to }] of here.entries()) {
      if (OPENS_A_BODY.has(word.toLowerCase()) || word === '$') first = n + 1
      if (word !== ';') continue
      const from = here[first]?.from
      if (from !== undefined) sites.push({ operator: 'drop', from, to, edit: { from, to, text: 'NULL;' } })
      first = n + 1
    }
  }

  function clause(part: readonly Token[], isInBrackets: boolean): void {
    const [head] = part
    if (!head) return
    const isHeaded = CLAUSES.has(head.word.toLowerCase()) || ENDS.has(head.word)
    const body = isHeaded ? part.slice(1) : part
    if (isHeaded && OPTIONAL.has(head.word.toLowerCase())) {
      const whole = { from: head.from, to: part.at(-1)?.to ?? head.to }
      sites.push({ operator: 'without', ...whole, edit: { ...whole, text: '' } })
    }
    if (isHeaded || isInBrackets) value(body)
    const elements = split(body, word => word === ',')
    if (elements.length > 1) listed(elements)
    for (const element of elements) {
      const conditions = split(element, word => word === 'and' || word === 'or')
      if (conditions.length > 1) listed(conditions)
    }
  }

  function listed(parts: readonly (readonly Token[])[]): void {
    const ranges = parts.flatMap(part => rangeOf(part) ?? [])
    sites.push(...listSites(text, ranges))
    for (const part of parts) value(part)
  }

  function value(part: readonly Token[]): void {
    const whole = rangeOf(part)
    if (whole) sites.push({ operator: 'make', ...whole, edit: { ...whole, text: '' } })
  }
}

function rangeOf(part: readonly Token[]) {
  const [first] = part
  const last = part.at(-1)
  return first && last ? { from: first.from, to: last.to } : null
}

/** Parts that each begin with a word that is looked for; `is distinct from` begins none. */
function splitBefore(tokens: readonly Token[], isHead: (word: string) => boolean): Token[][] {
  const parts: Token[][] = [[]]
  for (const [n, token] of tokens.entries()) {
    const isDistinct = tokens[n - 1]?.word.toLowerCase() === 'distinct'
    if (isHead(token.word.toLowerCase()) && !isDistinct) parts.push([token])
    else parts.at(-1)?.push(token)
  }
  return parts
}

function split(tokens: readonly Token[], isBetween: (word: string) => boolean): Token[][] {
  const parts: Token[][] = [[]]
  for (const token of tokens) {
    if (isBetween(token.word.toLowerCase())) parts.push([])
    else parts.at(-1)?.push(token)
  }
  return parts
}
