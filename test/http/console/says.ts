import { inGeneral } from '#test/support/in-general.ts'

/**
 * What a page says, in general: a line for each row, heading or paragraph, with the words of titles and labels; of a table only the
 * first rows.
 */
export function saysOf(html: string): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(html) ?? []
  const text = main
    .replaceAll(/<(script|style|svg)[\s\S]*?<\/\1>|<input type="hidden"[^>]*>/g, '')
    .replaceAll(/(<tbody>)([\s\S]*?)(<\/tbody>)/g, (_, open, rows: string, close) =>
      [open, ...rows.split(/(?=<tr)/).slice(0, ROWS), close].join(''),
    )
    .replaceAll(/<[^>]+>/g, tag => {
      const words = [...tag.matchAll(/ (?:title|aria-label|placeholder|value)="([^"]+)"/g)].map(
        ([, text]) => `[${text}]`,
      )
      return `${BLOCK.test(tag) ? '\n' : ' '}${words.join(' ')} `
    })
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&')
  return inGeneral(text)
    .split('\n')
    .map(line => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line, n, all) => line !== '' && line !== all[n - 1])
    .join('\n')
}

const ROWS = 3
const BLOCK =
  /^<\/?(?:tr|p|h\d|li|dt|section|form|caption|figure|figcaption|details|summary|div|label|option|ul|ol)\b/
