import { number } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { percent, tableUnder, tickLabels } from './plot.ts'
import { isDrawn } from './value-axis.ts'

export type HeatChart = {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** What the counts are: `episodes that began`. */
  readonly unit: string
  /** The head of the names of the rows in the table: `Weekday`. */
  readonly head: string
  readonly rows: readonly { readonly name: string; readonly counts: readonly number[] }[]
  /** The name of each count of a row: the hour. */
  readonly columns: readonly string[]
  readonly note?: Html
}

const CELL = 24
const LEVELS = 5
const MAX_LABELS = 8
/** At most four characters up to a trillion: `950`, `9.5K`, `44K`. */
const SHORT = new Intl.NumberFormat('en-US', { notation: 'compact' })

/**
 * Counts in two directions, as cells that are the stronger the higher they are, in five levels. A wide screen has the counts in
 * the cells. Higher levels are wider, so that few high counts do not hide the others.
 */
export function heatChart(chart: HeatChart): Html {
  const { id, title, unit, rows, columns, note = null } = chart
  const counts = rows.flatMap(row => row.counts.filter(isDrawn))
  const lowest = counts.reduce((least, count) => Math.min(least, count), counts[0] ?? 0)
  const bounds = levelsFor(
    lowest,
    counts.reduce((most, count) => Math.max(most, count), 0),
  )
  const height = rows.length * CELL
  const every = Math.ceil(columns.length / MAX_LABELS)
  const ticks = columns.map((label, n) => ({
    share: (n + 0.5) / columns.length,
    label,
    isMinor: n % every !== 0,
  }))
  return html`<figure class="chart">
<figcaption>${title} <span class="quiet">(${unit})</span></figcaption>
<div class="chart-plot">
<svg class="chart-values" width="48" height="${height + CELL}" aria-hidden="true">${rows.map(
    ({ name }, n) => html`<text x="42" y="${(n + 0.5) * CELL + 4}" text-anchor="end">${name}</text>`,
  )}</svg>
<svg class="chart-area" width="100%" height="${height + CELL}" role="img" aria-labelledby="${id}-title">
<title id="${id}-title">${title} (${unit}). ${summaryOf(chart)}</title>
${rows.map((row, y) => columns.map((column, x) => cell(row.counts[x] ?? 0, { x, y }, columns.length, bounds, `${row.name} ${column}`)))}
${tickLabels(ticks, height)}
</svg>
</div>
${legendOf(lowest, bounds)}${note ? html`<p class="quiet">${note}</p>` : null}
${tableUnder(id, countsTable(chart))}
</figure>`
}

function cell(
  value: number,
  { x, y }: { readonly x: number; readonly y: number },
  columns: number,
  bounds: readonly number[],
  name: string,
): Html {
  const count = isDrawn(value) ? Math.max(0, Math.round(value)) : 0
  const level =
    count === 0
      ? 0
      : levelOf(
          bounds.findIndex(bound => count <= bound),
          bounds,
        )
  const text = html`<text class="heat-count" x="${percent((x + 0.5) / columns)}" y="${(y + 0.5) * CELL + 4}" text-anchor="middle">${SHORT.format(count)}</text>`
  return html`<g class="heat heat-${level}"><rect x="${percent(x / columns)}" y="${y * CELL}" width="${percent(1 / columns)}" height="${CELL}"><title>${name}: ${number(count)}</title></rect>${count === 0 ? null : text}</g>
`
}

/**
 * The highest count of each level, the last one the highest of all: whole numbers that grow as squares do, from the lowest
 * count on if no count is 0. None without counts.
 */
export function levelsFor(lowest: number, highest: number): number[] {
  if (!(highest >= 0.5)) return []
  const base = baseOf(lowest)
  const bounds = Array.from({ length: LEVELS }, (_, n) =>
    Math.round(base + (highest - base) * ((n + 1) / LEVELS) ** 2),
  )
  return [...new Set(bounds)].filter(bound => bound > base)
}

/** What is below all levels. */
function baseOf(lowest: number): number {
  return Math.max(0, Math.round(lowest) - 1)
}

/** With few levels, the highest are as strong all the same. */
function levelOf(n: number, bounds: readonly number[]): number {
  return LEVELS - bounds.length + n + 1
}

function legendOf(lowest: number, bounds: readonly number[]): Html {
  const zero = lowest < 0.5 ? html`<li>${swatch(0)}0</li>` : null
  return html`<ul class="chart-legend">${zero}${bounds.map((bound, n) => {
    const least = (bounds[n - 1] ?? baseOf(lowest)) + 1
    return html`<li>${swatch(levelOf(n, bounds))}${number(least)}${bound > least ? `–${number(bound)}` : null}</li>`
  })}</ul>`
}

function swatch(level: number): Html {
  return html`<svg width="16" height="16" aria-hidden="true"><g class="heat heat-${level}"><rect width="16" height="16"/></g></svg>`
}

function summaryOf({ rows, columns }: HeatChart): string {
  let highest = { name: '', count: 0 }
  for (const { name, counts } of rows) {
    for (const [x, column] of columns.entries()) {
      const count = counts[x] ?? 0
      if (isDrawn(count) && count > highest.count) highest = { name: `${name} ${column}`, count }
    }
  }
  return highest.count === 0 ? 'All are 0.' : `The highest: ${highest.name}, ${number(highest.count)}.`
}

function countsTable({ title, head, rows, columns }: HeatChart): Html {
  return html`<div class="table" role="region" aria-label="${title}" tabindex="0"><table>
<caption>${title}</caption>
<thead><tr><th scope="col">${head}</th>${columns.map(name => html`<th scope="col" class="number">${name}</th>`)}</tr></thead>
<tbody>${rows.map(
    ({ name, counts }) =>
      html`<tr><th scope="row">${name}</th>${columns.map((column, x) => html`<td data-head="${column}" class="number">${known(counts[x])}</td>`)}</tr>
`,
  )}</tbody></table></div>`
}

function known(count = 0): string {
  return isDrawn(count) ? number(count) : '–'
}
