/* What tests read from pages. */

/** Names that could break a page: markup, text that turns around what follows, very long ones, and emptiness. */
export const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  '\u202egnp.exe',
  'x'.repeat(2_900),
  '👩‍🚒',
  ' ',
]

/** The rows of the first table as text, without tags. */
export function rowsIn(text: string): string[] {
  const body = /<tbody>([\s\S]*?)<\/tbody>/.exec(text)?.[1] ?? ''
  return [...body.matchAll(/<tr>([\s\S]*?)<\/tr>/g)].map(([, row = '']) =>
    row
      .replace(/<[^>]+>/g, ' ')
      .replace(/\s+/g, ' ')
      .trim(),
  )
}
