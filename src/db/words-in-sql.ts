/** Returns words of Ferry's own, which need no quoting, as a list in SQL: `'succeeded', 'held'`. */
export function wordsInSql(words: readonly string[]): string {
  return words.map(word => `'${word}'`).join(', ')
}
