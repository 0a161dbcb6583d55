import { counted } from '#src/model/counted.ts'
import { type Html, html } from '../html.ts'
import { foreign } from '../parts/values.ts'
import { numbersTable, plot, round, WIDTH } from './plot.ts'
import { isDrawn, shareOf, shortNumber, type Tick, valueAxis } from './value-axis.ts'

export type Bar = { readonly label: string; readonly value: number | null }

export type BarChart = {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** What the values are: `rows per minute`. */
  readonly unit: string
  /** What the bars are: `Minute`. The head of the labels in the table. */
  readonly head: string
  /** In their order. Up to a hundred can be told apart on a phone. */
  readonly bars: readonly Bar[]
  /** Values are counts: no tick between two of them. */
  readonly isWhole?: boolean
  readonly format?: (value: number) => string
  readonly note?: Html
}

const HEIGHT = 160
const MAX_LABELS = 12
/** Of a bar that is not 0, so that it is seen, in pixels. */
const LEAST_HEIGHT = 1.5

/** A bar for each value, from 0 up. Values below 0 are drawn as 0, unknown ones not at all. */
export function barChart(chart: BarChart): Html {
  const { id, title, unit, head, bars, isWhole = false, format = shortNumber, note = null } = chart
  const axis = valueAxis(
    bars.map(({ value }) => value),
    format,
    isWhole,
  )
  const rects = bars.map(({ label, value }, n) => {
    if (!isDrawn(value) || value <= 0) return null
    const height = Math.max(LEAST_HEIGHT, round(shareOf(value, axis) * HEIGHT))
    const place = WIDTH / bars.length
    return html`<rect class="chart-bar" x="${round((n + 0.1) * place)}" width="${round(0.8 * place)}" y="${round(HEIGHT - height)}" height="${height}"><title>${label}: ${format(value)}</title></rect>`
  })
  return plot({
    id,
    title,
    unit,
    summary: summaryOf(bars, format),
    height: HEIGHT,
    valueTicks: axis.ticks,
    ticks: labelsOf(bars),
    stretched: html`${rects}`,
    note,
    numbers: numbersTable(
      title,
      [
        { head, cell: ({ label }) => foreign(label) },
        { head: unit, isNumber: true, cell: ({ value }) => (isDrawn(value) ? format(value) : '–') },
      ],
      bars,
    ),
  })
}

/** Under the middle of every bar, or of every so many. */
function labelsOf(bars: readonly Bar[]): Tick[] {
  const every = Math.ceil(bars.length / MAX_LABELS)
  return bars
    .map(({ label }, n) => ({ share: (n + 0.5) / bars.length, label, n }))
    .filter(({ n }) => n % every === 0)
    .map(({ share, label, n }) => ({ share, label, isMinor: (n / every) % 2 === 1 }))
}

function summaryOf(bars: readonly Bar[], format: (value: number) => string): string {
  const known = bars.filter((bar): bar is { label: string; value: number } => isDrawn(bar.value))
  const [first, ...others] = known
  if (!first) return 'No data.'
  const highest = others.reduce((most, bar) => (bar.value > most.value ? bar : most), first)
  return `${counted(known.length, 'bar')}. The highest: ${highest.label}, ${format(highest.value)}.`
}
