import { counted } from '#src/model/counted.ts'
import { type Html, type HtmlValue, html } from '../html.ts'

export type Column<Row> = {
  readonly head: string
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean
  cell(row: Row): HtmlValue
}

/**
 * A table with a caption. On a narrow screen each row becomes a card, with the head beside each value. Without rows it is
 * `empty`: what this means, and the next step.
 */
export function table<Row>(
  caption: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  empty: Html,
): Html {
  if (rows.length === 0) return nothing(caption, empty)
  return html`<div class="table" role="region" aria-label="${caption}" tabindex="0"><table>
<caption>${caption}</caption>
<thead><tr>${columns.map(({ head, isNumber }) => html`<th scope="col"${isNumber ? html` class="number"` : null}>${head}</th>`)}</tr></thead>
<tbody>${rows.map(
    row =>
      html`<tr>${columns.map(({ head, isNumber, cell }) => html`<td data-head="${head}"${isNumber ? html` class="number"` : null}>${cell(row)}</td>`)}</tr>
`,
  )}</tbody></table></div>`
}

/** Stands where a table or a chart has nothing to show. */
export function nothing(caption: string, words: Html): Html {
  return html`<div class="empty"><p class="caption">${caption}</p><p>${words}</p></div>`
}

/**
 * What is wrong is shown, and the others are folded under the words for them: on a phone each row is a card. `id` is unique on the
 * page.
 */
export function wrongFirst<Row>(
  id: string,
  rows: readonly Row[],
  { isWrong, others }: { isWrong: (row: Row) => boolean; others: (rows: readonly Row[]) => string },
  shown: (rows: readonly Row[]) => Html,
): Html {
  const [wrong, right] = [rows.filter(isWrong), rows.filter(row => !isWrong(row))]
  if (rows.length === 0) return shown(rows)
  return html`${wrong.length > 0 ? shown(wrong) : null}
${right.length > 0 ? folded(id, others(right), shown(right)) : null}`
}

/** Shows the first `max` rows, and says how many others there are. */
export function atMost<Row>(max: number, rows: readonly Row[], shown: (rows: readonly Row[]) => Html): Html {
  const left = rows.length - max
  return html`${shown(rows.slice(0, max))}${left > 0 ? html`<p>${counted(left, 'more is', 'more are')} not shown.</p>` : null}`
}

/** Stands closed until somebody opens it. */
export function folded(id: string, words: string, content: Html): Html {
  return html`<details class="fold" id="${id}"><summary>${words}</summary>
${content}</details>`
}

/** Pairs of a name and a value, as for one run. */
export function facts(pairs: readonly (readonly [string, HtmlValue])[]): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
