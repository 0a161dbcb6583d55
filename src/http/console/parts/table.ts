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

/** Pairs of a name and a value, as for one run. */
export function facts(pairs: readonly (readonly [string, HtmlValue])[]): Html {
  return html`<dl class="facts">${pairs.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`
}
