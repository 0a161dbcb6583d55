import { textOf } from '../cells.ts'

/* What people read on a page, and where it leads. */

/**
 * The text of a piece of HTML. A link is `[words](address)`, a badge `warn:paused`; an instant is exact, with an @ if it leads to
 * what happened then; a difference is `field: old → new;`.
 */
export function readingOf(html: string): string {
  const read = html
    .replaceAll(/<time datetime="([^"]+)"([^>]*)>([^<]*)<\/time>/g, (_, at, title, words) =>
      instantOf(at, title, words),
    )
    .replaceAll(/<a class="at" href="\/at\/([^"]+)">\1<\/a>/g, '@$1')
    .replaceAll(/<span class="badge (\w+)"[^>]*>/g, ' $1:')
    .replaceAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs, (_, name, value) => `${name}: ${differenceOf(value)}; `)
    .replaceAll(/<a [^>]*?href="([^"]*)" title="([^"]*)"[^>]*>(.*?)<\/a>/gs, '[$3 "$2"]($1)')
    .replaceAll(/<a [^>]*?href="([^"]*)"[^>]*>(.*?)<\/a>/gs, '[$2]($1)')
    .replaceAll(/<br>|<\/li>/g, ' ')
  return textOf(read)
}

/** Exact, if what people see and what they see when they point at it say the same; else as it stands there. */
function instantOf(at: string, attributes: string, words: string): string {
  const [, title] = / title="([^"]*)"/.exec(attributes) ?? []
  const shown = at.slice(0, 19).replace('T', ' ')
  const isRight = title === undefined ? words === shown : title === `${shown} UTC` && words.endsWith(' ago')
  return isRight ? at : `${at} as ${words} (${title})`
}

/** Of a difference word by word, the old and the new text. */
function differenceOf(html: string): string {
  if (!/<(del|ins)>/.test(html)) return html
  const without = (tag: string) =>
    textOf(html.replaceAll(new RegExp(`<${tag}>.*?</${tag}>|<span class="arrow">.*?</span>`, 'gs'), ''))
  return `${without('ins')} → ${without('del')}`
}

/** The rows of the tables with this caption, each cell by its head: what needs attention may stand in a table of its own. */
export function rowsUnder(page: string, caption: string): Record<string, string>[] {
  const tables = page.split('<table>').filter(one => one.includes(`<caption>${caption}</caption>`))
  return tables.flatMap(table => rowsIn(table.split('</table>')[0] ?? ''))
}

function rowsIn(table: string): Record<string, string>[] {
  const heads = [...table.matchAll(/<th [^>]*>(.*?)<\/th>/g)].map(([, head = '']) => head)
  return [...table.matchAll(/<tr>(<td.*?)<\/tr>/gs)].map(([, row = '']) => {
    const cells = [...row.matchAll(/<td data-head="([^"]*)"[^>]*>(.*?)<\/td>/gs)]
    // A phone shows the name of the cell, a screen that of the column.
    return Object.fromEntries(
      cells.map(([, name = '', html = ''], n) => [
        name === heads[n] ? name : `${heads[n]}, or ${name}`,
        readingOf(html),
      ]),
    )
  })
}

/** The facts of a page by their names. */
export function factsIn(page: string): Record<string, string> {
  const lists = [...page.matchAll(/<dl class="facts">(.*?)<\/dl>/gs)].map(([, list]) => list).join('')
  return Object.fromEntries(
    [...lists.matchAll(/<dt>(.*?)<\/dt><dd>(.*?)<\/dd>/gs)].map(([, name = '', value = '']) => [
      textOf(name),
      readingOf(value),
    ]),
  )
}

/** What stands above a page. */
export function headingIn(page: string): string {
  return readingOf(/<h1>(.*?)<\/h1>/s.exec(page)?.[1] ?? '')
}
