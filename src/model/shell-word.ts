/** Returns text as one word of a shell, between single quotes. */
export function inSingleQuotes(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`
}
