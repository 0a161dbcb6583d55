import { type Html, html } from '../html.ts'
import { percent, round, tableUnder, tickLabels, WIDTH } from './plot.ts'
import { shareOfSpan, type TimeSpan, timeTicks } from './time-axis.ts'
import type { Tick } from './value-axis.ts'

/** What a mark means, by its shape. */
export const MARKS = {
  changed: { shape: 'M0-6 6 0 0 6-6 0Z', words: 'edited' },
  off: { shape: 'M-5-5H5V5H-5Z', words: 'disabled or removed' },
  on: { shape: 'M0-6 6 5H-6Z', words: 'added, returned or enabled' },
} as const
export type MarkKind = keyof typeof MARKS

export type Mark = { readonly at: Date; readonly kind: MarkKind; readonly words: string }

type Bar = { readonly from: Date; readonly to: Date | null }

export type GanttRow = {
  /** What stands beside the bars, mostly a link. */
  readonly label: Html
  /** What can be seen in this row, in words: `3 episodes, 4 h 10 min in all, fires now, 2 edits`. */
  readonly summary: string
  /** In any order. `to` is null for what has not ended. */
  readonly bars: readonly Bar[]
  /** Times of which nothing is known: they cover the bars. */
  readonly blind?: readonly Bar[]
  readonly marks: readonly Mark[]
}

export type GanttChart = {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** What a bar is: `a bar is an episode`. */
  readonly unit: string
  readonly span: TimeSpan
  /** Drawn as a line through all rows. */
  readonly moment?: Date | undefined
  /** The zone of the times above the chart. It is named there. */
  readonly timezone: string
  readonly rows: readonly GanttRow[]
  /** The same as a table. */
  readonly numbers: Html
}

const ROW = 22
const BAR = { top: 5, height: 12 }

/** Bars over time, a row for each thing. What began before the span, or ends after it, is cut there. */
export function ganttChart(chart: GanttChart): Html {
  const { id, title, unit, span, moment, timezone, rows } = chart
  const ticks = timeTicks(span, timezone)
  return html`<figure class="chart">
<figcaption>${title} <span class="quiet">(${unit}, times in ${timezone})</span></figcaption>
<div class="gantt-axis" aria-hidden="true"><svg width="100%" height="24">${tickLabels(ticks, 0)}</svg></div>
<ol class="gantt">${rows.map(
    (row, n) =>
      html`<li><div class="gantt-label">${row.label}</div>${drawn(row, `${id}-${n}`, { span, moment, ticks })}</li>
`,
  )}</ol>
${legendOf(rows)}
${tableUnder(id, chart.numbers)}
</figure>`
}

type Drawing = Pick<GanttChart, 'span' | 'moment'> & { readonly ticks: readonly Tick[] }

function drawn(
  { summary, bars, blind = [], marks }: GanttRow,
  id: string,
  { span, moment, ticks }: Drawing,
): Html {
  const open = bars.filter(({ to }) => to === null)
  const ended = bars.filter(({ to }) => to !== null)
  return html`<svg class="gantt-row" width="100%" height="${ROW}" role="img" aria-labelledby="${id}"><title id="${id}">${summary}</title><svg width="100%" height="${ROW}" viewBox="0 0 ${WIDTH} ${ROW}" preserveAspectRatio="none"><path class="gantt-grid" d="${ticks.map(({ share }) => `M${round(share * WIDTH)} 0v${ROW}`).join('')}"/>${barsPath(ended, 'gantt-bar', span)}${barsPath(open, 'gantt-bar gantt-open', span)}${barsPath(blind, 'gantt-blind', span, { top: 0, height: ROW })}${moment && html`<path class="gantt-moment" d="M${round(shareOfSpan(moment, span) * WIDTH)} 0v${ROW}"/>`}</svg>${marks.map(
    ({ at, kind, words }) =>
      html`<svg class="gantt-mark" x="${percent(shareOfSpan(at, span))}" y="${ROW / 2}"><path d="${MARKS[kind].shape}"><title>${words}</title></path></svg>`,
  )}</svg>`
}

/** All bars of a kind as one path: some hundreds of them are small. */
function barsPath(bars: readonly Bar[], style: string, span: TimeSpan, { top, height } = BAR): Html | null {
  const path = bars
    .filter(({ from, to }) => from <= span.to && (to === null || to >= span.from))
    .map(({ from, to }) => {
      const begin = round(shareOfSpan(from, span) * WIDTH)
      const length = round(shareOfSpan(to ?? span.to, span) * WIDTH - begin)
      return `M${begin} ${top}h${Math.max(length, 0)}v${height}H${begin}z`
    })
    .join('')
  return path === '' ? null : html`<path class="${style}" d="${path}"/>`
}

function legendOf(rows: readonly GanttRow[]): Html | null {
  const used = new Set(rows.flatMap(({ marks }) => marks.map(({ kind }) => kind)))
  const bars = rows.flatMap(row => row.bars)
  const isOpen = bars.some(({ to }) => to === null)
  const hasEnded = bars.some(({ to }) => to !== null)
  const isBlind = rows.some(({ blind = [] }) => blind.length > 0)
  if (used.size === 0 && !isOpen && !isBlind) return null
  const bar = (style: string, words: string) =>
    html`<li><svg width="26" height="14" aria-hidden="true"><path class="${style}" d="M1 1h24v12h-24z"/></svg>${words}</li>`
  return html`<ul class="chart-legend">${isBlind ? bar('gantt-blind', 'not known: nothing was read') : null}${isOpen ? bar('gantt-bar gantt-open', 'still firing') : null}${hasEnded ? bar('gantt-bar', 'ended') : null}${(
    Object.keys(MARKS) as MarkKind[]
  )
    .filter(kind => used.has(kind))
    .map(
      kind =>
        html`<li><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path class="gantt-mark" d="${MARKS[kind].shape}"/></svg>${MARKS[kind].words}</li>`,
    )}</ul>`
}
