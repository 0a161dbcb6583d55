import { type Html, html } from '../html.ts'
import { type Column, table } from '../parts/table.ts'
import type { Tick } from './value-axis.ts'

/*
 * What the charts share. Text keeps its size on every screen: it stands at percentages of the width, in pixels of height.
 * Only what is drawn is stretched, in an inner SVG that is WIDTH wide.
 *
 *     figure.chart ── figcaption: title and unit
 *                  ── .chart-plot: svg.chart-values (labels of the values) │ svg.chart-area (grid, marks, labels of the ticks)
 *                  ── legend, note
 *                  ── details: the same numbers as a table
 */

/** The width of what is stretched, in its own units. */
export const WIDTH = 1_000

export type Plot = {
  /** Unique on the page: ids of elements begin with it. */
  readonly id: string
  readonly title: string
  /** What the values are: `calls a minute`. */
  readonly unit: string
  /** What a person would see at a glance, for those who do not. */
  readonly summary: string
  /** The height of the area without its labels, in pixels. */
  readonly height: number
  readonly valueTicks: readonly Tick[]
  readonly ticks: readonly Tick[]
  /** Drawn in a space of WIDTH by `height`, from its top left corner, and stretched to the width of the screen. */
  readonly stretched: Html
  /** Drawn over it at percentages of the width: text, and what must not be stretched. */
  readonly overlay?: Html | null
  readonly legend?: Html | null
  /** Under the chart: the zone of its times. */
  readonly note?: Html | null
  readonly numbers: Html
}

const TOP = 16
const BELOW = 24

/** A chart with an axis of values and one of something else. */
export function plot(of: Plot): Html {
  const { id, title, unit, summary, height, valueTicks, ticks } = of
  const y = (share: number) => round(TOP + (1 - share) * height)
  return html`<figure class="chart">
<figcaption>${title} <span class="quiet">(${unit})</span></figcaption>
<div class="chart-plot">
<svg class="chart-values" width="48" height="${TOP + height + BELOW}" aria-hidden="true">${valueTicks.map(
    ({ share, label }) => html`<text x="42" y="${y(share) + 4}" text-anchor="end">${label}</text>`,
  )}</svg>
<svg class="chart-area" width="100%" height="${TOP + height + BELOW}" role="img" aria-labelledby="${id}-title">
<title id="${id}-title">${title} (${unit}). ${summary}</title>
${valueTicks.map(({ share }) => html`<line class="${share === 0 ? 'chart-base' : 'chart-grid'}" x1="0" x2="100%" y1="${y(share)}" y2="${y(share)}"/>`)}
<svg y="${TOP}" width="100%" height="${height}" viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none">${of.stretched}</svg>
<svg y="${TOP}" width="100%" height="${height}" class="chart-overlay">${of.overlay}</svg>
${tickLabels(ticks, TOP + height)}
</svg>
</div>
${of.legend}${of.note ? html`<p class="quiet">${of.note}</p>` : null}
${tableUnder(id, of.numbers)}
</figure>`
}

/** The marks of an axis with their labels, beneath `y`. */
export function tickLabels(ticks: readonly Tick[], y: number): Html {
  return html`${ticks.map(
    ({ share, label, isMinor }) =>
      html`<g${isMinor ? html` class="chart-minor"` : null}><line class="chart-tick" x1="${percent(share)}" x2="${percent(share)}" y1="${y}" y2="${y + 4}"/><text x="${percent(share)}" y="${y + 18}" text-anchor="middle">${label}</text></g>`,
  )}`
}

/** The numbers of a chart, for who wants to read, copy or hear them. */
export function tableUnder(id: string, content: Html): Html {
  return html`<details id="${id}-numbers"><summary>The same numbers as a table</summary>
${content}</details>`
}

/** A table of what a chart shows. */
export function numbersTable<Row>(
  title: string,
  columns: readonly Column<Row>[],
  rows: readonly Row[],
): Html {
  return table(title, columns, rows, html`Nothing to show.`)
}

/** Exact to a tenth of a pixel: a page shall not carry more digits. */
export function round(value: number): number {
  return Math.round(value * 10) / 10
}

export function percent(share: number): string {
  return `${Math.round(share * 10_000) / 100}%`
}
