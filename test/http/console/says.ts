/**
 * What a page says, a line for each row, heading or paragraph: texts, and the words of titles and labels. Numbers, times and
 * durations are `#`; of a table only the first rows are there.
 */
export function saysOf(html: string): string {
  const [, main = ''] = /<main[^>]*>([\s\S]*)<\/main>/.exec(html) ?? []
  return main
    .replaceAll(/<(script|style|svg)[\s\S]*?<\/\1>|<input type="hidden"[^>]*>/g, '')
    .replaceAll(/\b[0-9a-f]{16,}\b|\/\S+\/(?=subscribers\.csv)/g, '')
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
    .replaceAll(/\d+(?:[-.,:]\d+)*/g, '#')
    .replaceAll(/# (?:ms|s|min|h|d)\b(?: # (?:ms|s|min|h|d)\b)*/g, '# t')
    .split('\n')
    .map(line => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line, n, all) => line !== '' && line !== all[n - 1])
    .join('\n')
}

const ROWS = 3
const BLOCK =
  /^<\/?(?:tr|p|h\d|li|dt|section|form|caption|figure|figcaption|details|summary|div|label|option|ul|ol)\b/
