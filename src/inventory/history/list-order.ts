/*
 * What the two lists of an inventory share that people page through: parameters, words, and the place after which a page
 * goes on.
 */

/** Adds a parameter and returns its name in the query, with its type. */
export type AddParam = (value: unknown, type: string) => string

export function paramsInto(params: unknown[]): AddParam {
  return (value, type) => `$${params.push(value)}::${type}`
}

/** Conditions that `text`, which is in lower case, has each of the words that are asked for. */
export function hasEachWord(text: string, words: string | undefined, param: AddParam): string[] {
  return wordsIn(words).map(word => `strpos(${text}, (select lower(${param(word, 'text')}))) > 0`)
}

/** The words that are looked for, each once. */
export function wordsIn(words = ''): string[] {
  return [...new Set(words.split(/\s+/).filter(word => word !== ''))]
}

export const RULE_SORTS = ['name', 'folder', 'updated', 'firing since'] as const
export const SERVER_SORTS = ['name', 'team', 'updated'] as const

/** A column of a row `k` by which a list is ordered: its expression, its type, and where it stands in the place of a row. */
export type Key = readonly [column: string, type: string, at: number]
export type Sort = { readonly keys: readonly Key[]; readonly isDown?: true }

export function orderOf({ keys, isDown }: Sort): string {
  return keys.map(([column]) => `${column}${isDown ? ' desc' : ''}`).join(', ')
}

/** The condition that a row comes after this place; null: every row does. */
export function isAfter(
  { keys, isDown }: Sort,
  place: readonly (string | null)[] | null,
  param: AddParam,
): string {
  if (place === null) return 'true'
  const columns = keys.map(([column]) => column)
  const values = keys.map(([, type, at]) => param(place[at], type))
  return `(${columns.join(', ')}) ${isDown ? '<' : '>'} (${values.join(', ')})`
}
