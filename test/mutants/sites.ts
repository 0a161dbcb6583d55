/** A place in a text that an operator can change: what stands between `from` and `to` tells which one is meant. */
export type Site = {
  readonly operator: 'drop' | 'without' | 'unwrap' | 'later' | 'make'
  readonly from: number
  readonly to: number
  /** What is replaced; `make` brings its own text. */
  readonly edit: { readonly from: number; readonly to: number; readonly text: string }
}

export type Token = { readonly word: string; readonly from: number; readonly to: number }

const COMMENT = /(?<=^|\s)(?:(?:\/\/|--)\s.*$|\/\*[\s\S]*?\*\/)/gm
const OPERATOR = String.raw`===|!==|=>|<=|>=|<>|==|!=|&&|\|\||\?\?=?|\?\.|\+\+|--|[-+*\/:]=|->>|->|::|@>|<@|\.\.\.|\*\*`
const TOKEN = new RegExp(String.raw`#?[\p{L}_$][\p{L}\p{N}_$]*|\p{N}[\p{L}\p{N}_.]*|${OPERATOR}|\S`, 'gu')

/** The words, numbers and signs of a text, comments left out; those in strings too, so it serves every language. */
export function tokensOf(text: string, from = 0, to = text.length): Token[] {
  const bare = text.slice(from, to).replaceAll(COMMENT, comment => ' '.repeat(comment.length))
  return [...bare.matchAll(TOKEN)].map(({ 0: word, index }) => ({
    word,
    from: from + index,
    to: from + index + word.length,
  }))
}

/** The places of a list: each element can be left out, and exchanged with its next. */
export function listSites(
  text: string,
  elements: readonly { readonly from: number; readonly to: number }[],
): Site[] {
  return elements.flatMap(({ from, to }, n): Site[] => {
    const before = elements[n - 1]
    const next = elements[n + 1]
    const gone = next ? { from, to: next.from } : { from: before?.to ?? from, to }
    const without: Site = { operator: 'without', from, to, edit: { ...gone, text: '' } }
    if (!next) return [without]
    const exchanged = text.slice(next.from, next.to) + text.slice(to, next.from) + text.slice(from, to)
    return [without, { operator: 'later', from, to, edit: { from, to: next.to, text: exchanged } }]
  })
}
