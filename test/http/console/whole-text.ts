/*
 * A page as people read it, without its charts, a line for each row or part, and what is of this run by what it is: `THEN`. A link is
 * `[address] words`, a badge `warn:paused`; a notice begins with its kind; what cannot be undone has a `!`, what was chosen a `*`.
 */

/** What stands between the navigation and the foot of a page. */
export function textOf(page: string): string {
  const main = /<main.*?<\/main>/s.exec(page)?.[0] ?? page
  return main
    .replaceAll(/<svg.*?<\/svg>/gs, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/<nav.*?<\/nav>/g, nav =>
      (nav.match(/<a [^>]*aria-current="\w+">.*?<\/a>/g) ?? []).join('\n'),
    )
    .replaceAll(/<(?:p|div) class="(problem|notice warn|notice|verdict \w+)"[^>]*>/g, '$&($1) ')
    .replaceAll(/<(?:a|button) [^>]*?class="(?:button )?danger"/g, '! $&')
    .replaceAll(/<(?:a|option) [^>]*?(?:aria-current="\w+"| selected)>/g, '* $&')
    .replaceAll(/<a [^>]*?href="([^"]*)"[^>]*>/g, '[$1] ')
    .replaceAll(/<span class="badge (\w+)"[^>]*>/g, ' $1:')
    .replaceAll(/<\/(?:p|tr|h\d|div|li|section|dt|option)>/g, '\n')
    .replaceAll(/<[^>]+>/g, ' ')
    .replaceAll('&amp;', '&')
    .replaceAll('&#39;', "'")
    .replaceAll('&quot;', '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d[.\d]*)?Z?/g, 'THEN')
    .replaceAll(/\b\d+(\.\d)? (ms|s)\b(?! ,)/g, 'SHORT')
    .replaceAll(/\b(\d+ h) \d+ min\b/g, '$1 N min')
    .replaceAll(/\b[\da-f]{32}\b/g, 'REQUEST')
    .replaceAll(/ {2,}/g, ' ')
    .replaceAll(/\s*\n\s*/g, '\n')
    .trim()
}

/** The same without the rows of tables and the choices of forms, below the title, the section and how often the page looks again. */
export function frameOf(page: string): string {
  const [, title = ''] = /<title>(.*?) · Ferry<\/title>/.exec(page) ?? []
  const [, section = 'no section'] = /<li><a href="[^"]*" aria-current="page">(.*?)<\/a>/.exec(page) ?? []
  const [, everyMs] = /<main[^>]* data-refresh="(\d+)"/.exec(page) ?? []
  const head = [title, section, ...(everyMs ? [`every ${Number(everyMs) / 1_000} s`] : [])].join(' · ')
  const frame = page.replaceAll(/<tbody>.*?<\/tbody>|<option.*?<\/option>|<datalist.*?<\/datalist>/gs, '')
  return `${head}\n${textOf(frame)}`
}
