import { type Html, html } from '../html.ts'
import { foreign, time } from '../parts/values.ts'
import { numbersTable, percent, plot, round, WIDTH } from './plot.ts'
import { shareOfSpan, type TimeSpan, timeTicks } from './time-axis.ts'
import { isDrawn, shareOf, shortNumber, type ValueAxis, valueAxis } from './value-axis.ts'

export type Point = {
  readonly at: Date
  /** Null: not known. The line has a gap there. */
  readonly value: number | null
}

export type LineChart = {
  /** Unique on the page. */
  readonly id: string
  readonly title: string
  /** What the values are: `calls a minute`. */
  readonly unit: string
  readonly span: TimeSpan
  /** The zone of the times under the chart. It is named there. */
  readonly timezone: string
  /** Each with its points by time. Six can be told apart, by color and by dashes. */
  readonly series: readonly { readonly name: string; readonly points: readonly Point[] }[]
  /** A line across the chart, with its name. */
  readonly limit?: { readonly name: string; readonly value: number } | null
  readonly format?: (value: number) => string
}

const HEIGHT = 160
const STYLES = 6

/** Lines over time, from 0 up. Values below 0 are drawn as 0. */
export function lineChart(chart: LineChart): Html {
  const { id, title, unit, span, timezone, series, limit = null, format = shortNumber } = chart
  const values = series.flatMap(({ points }) => points.map(({ value }) => value))
  const axis = valueAxis([...values, limit?.value ?? null], format)
  return plot({
    id,
    title,
    unit,
    summary: summaryOf(chart, format),
    height: HEIGHT,
    valueTicks: axis.ticks,
    ticks: timeTicks(span, timezone),
    stretched: html`${series.map(({ points }, n) => html`<path class="chart-line ${styleOf(n)}" d="${pathOf(points, span, axis)}"/>`)}`,
    overlay: html`${series.map(({ points }, n) => lonePoints(points, styleOf(n), span, axis))}${limit && limitLine(limit, axis)}`,
    legend: series.length > 1 ? legendOf(series.map(({ name }) => name)) : null,
    note: html`Times in ${timezone}.`,
    numbers: numbersOf(chart, format),
  })
}

function styleOf(n: number): string {
  return `series-${(n % STYLES) + 1}`
}

/** One path for all parts of a line; a gap begins a new part. */
function pathOf(points: readonly Point[], span: TimeSpan, axis: ValueAxis): string {
  let path = ''
  let isOpen = false
  for (const { at, value } of points) {
    if (isDrawn(value)) {
      const x = round(shareOfSpan(at, span) * WIDTH)
      path += `${isOpen ? 'L' : 'M'}${x} ${round((1 - shareOf(value, axis)) * HEIGHT)}`
    }
    isOpen = isDrawn(value)
  }
  return path
}

/** A point between two gaps is no line: it is drawn as a dot. */
function lonePoints(points: readonly Point[], style: string, span: TimeSpan, axis: ValueAxis): Html {
  const isKnown = (n: number) => isDrawn(points[n]?.value ?? null)
  const lone = points.filter((_, n) => isKnown(n) && !isKnown(n - 1) && !isKnown(n + 1))
  return html`${lone.map(
    ({ at, value }) =>
      html`<circle class="chart-dot ${style}" cx="${percent(shareOfSpan(at, span))}" cy="${round((1 - shareOf(value ?? 0, axis)) * HEIGHT)}" r="3"/>`,
  )}`
}

function limitLine(
  { name, value }: { readonly name: string; readonly value: number },
  axis: ValueAxis,
): Html {
  const y = round((1 - shareOf(value, axis)) * HEIGHT)
  return html`<line class="chart-limit" x1="0" x2="100%" y1="${y}" y2="${y}"/><text class="chart-limit-name" x="100%" y="${y - 4}" text-anchor="end">${name}</text>`
}

function legendOf(names: readonly string[]): Html {
  return html`<ul class="chart-legend">${names.map(
    (name, n) =>
      html`<li><svg width="30" height="10" aria-hidden="true"><line class="chart-line ${styleOf(n)}" x1="1" x2="29" y1="5" y2="5"/></svg>${foreign(name)}</li>`,
  )}</ul>`
}

function summaryOf({ series, limit }: LineChart, format: (value: number) => string): string {
  const highest = series.map(({ name, points }) => {
    const known = points.map(({ value }) => value).filter(isDrawn)
    if (known.length === 0) return `${name}: no data.`
    return `${name}: last ${format(known.at(-1) ?? 0)}, highest ${format(Math.max(...known))}.`
  })
  return [...highest, ...(limit ? [`${limit.name}: ${format(limit.value)}.`] : [])].join(' ')
}

function numbersOf({ title, series, timezone }: LineChart, format: (value: number) => string): Html {
  const byTime = series.map(({ points }) => new Map(points.map(({ at, value }) => [at.getTime(), value])))
  const times = [...new Set(byTime.flatMap(values => [...values.keys()]))].sort((a, b) => a - b)
  return numbersTable(
    title,
    [
      { head: 'Time', cell: at => time(new Date(at), timezone) },
      ...series.map(({ name }, n) => ({
        head: name,
        isNumber: true,
        cell: (at: number) => {
          const value = byTime[n]?.get(at) ?? null
          return isDrawn(value) ? format(value) : '–'
        },
      })),
    ],
    times,
  )
}
