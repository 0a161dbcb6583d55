import Table from 'cli-table3'
import { type Figure, ratioOf, type Verdict } from './figures.ts'

/** Prints one line a figure. */
export function printTable(figures: readonly (Figure & { readonly verdict: Verdict })[]): void {
  const table = new Table({
    head: ['measure', 'figure', 'floor', 'ratio', 'wanted', 'verdict'],
    colAligns: ['left', 'right', 'right', 'right', 'left', 'left'],
    style: { head: [], border: [] },
  })
  for (const figure of figures) {
    const { measure, value, floor, unit, verdict } = figure
    table.push([
      measure,
      value === null ? 'none' : `${round(value)} ${unit}`,
      floor === undefined ? '' : `${round(floor)} ${unit}`,
      ratioInWords(ratioOf(figure)),
      wantedInWords(figure),
      verdict,
    ])
  }
  console.log(table.toString())
  for (const { measure, missing } of figures) if (missing) console.log(`${measure}: none, because ${missing}`)
}

function wantedInWords({ wanted, floor, unit }: Figure): string {
  if (!wanted) return ''
  const inWords = (bound: number) => (floor === undefined ? `${bound} ${unit}` : ratioInWords(bound))
  const must = wanted.must === undefined ? '' : ` (must: ${inWords(wanted.must)})`
  return `${wanted.kind} ${inWords(wanted.good)}${must}`
}

function ratioInWords(ratio: number | null): string {
  if (ratio === null) return ''
  return ratio < 0.1 ? `1/${round(1 / ratio)}` : ratio.toFixed(2)
}

/** Three digits that tell something. */
function round(value: number): string {
  return Number(value.toPrecision(value < 1000 ? 3 : 6)).toLocaleString('en', { maximumFractionDigits: 3 })
}
