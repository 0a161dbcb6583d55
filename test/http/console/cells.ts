/** The texts of the cells of the table with this caption, row by row; nothing if the page has no such table. */
export function cellsOf(page: string, caption: string): string[][] {
  const [, after = ''] = page.split(`<caption>${caption}</caption>`)
  const [body = ''] = after.split('</table>')
  return [...body.matchAll(/<tr><td.*?<\/tr>/gs)].map(([row]) =>
    [...row.matchAll(/<td[^>]*>(.*?)<\/td>/gs)].map(([, cell = '']) => textOf(cell)),
  )
}

/** The text of a piece of HTML. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]+>/g, '')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
