/** Names that somebody may give to what Ferry reads. */
export const HOSTILE = [
  '<script>alert(1)</script>',
  '"><img src=x onerror=alert(1)>',
  'turned \u202egnihtemos',
  'long '.repeat(600),
  '🧨 emoji 👩‍👩‍👧',
] as const

/** The addresses of a page's links that begin so, in the order of the page. */
export function hrefsOf(text: string, begin: string): string[] {
  return [...text.matchAll(/<a[^>]* href="([^"]*)"/g)]
    .map(match => match[1]!.replaceAll('&amp;', '&'))
    .filter(href => href.startsWith(begin))
}
