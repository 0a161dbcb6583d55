import { expect, test } from 'vitest'
import { type BarChart, barChart } from '#src/http/console/charts/bars.ts'

const CHART: BarChart = {
  id: 'rate',
  title: 'Rate',
  unit: 'rows a minute',
  head: 'Minute',
  bars: [
    { label: '03:00', value: 10 },
    { label: '03:01', value: 40 },
    { label: '03:02', value: null },
    { label: '03:03', value: 0 },
  ],
}

const draw = (chart: Partial<BarChart>) => String(barChart({ ...CHART, ...chart }))
const rects = (page: string) =>
  [...page.matchAll(/<rect [^>]*x="([^"]*)" width="([^"]*)" y="([^"]*)" height="([^"]*)"/g)].map(match =>
    match.slice(1).map(Number),
  )

test('bars stand beside each other, as high as their values; what is 0 or not known has none', () => {
  expect(rects(draw({}))).toEqual([
    [25, 200, 120, 40],
    [275, 200, 0, 160],
  ])
})

test('a bar that is small beside the others is seen all the same', () => {
  const bars = [
    { label: 'a', value: 1 },
    { label: 'b', value: 1e6 },
  ]
  expect(rects(draw({ bars }))[0]?.[3]).toBe(1.5)
})

test('the highest bar is named in words, and all of them are in the table', () => {
  const page = draw({})
  expect(page).toContain('Rate (rows a minute). 3 bars. The highest: 03:01, 40.')
  const cells = [...page.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell?.replace(/<[^>]*>/g, ''))
  expect(cells).toEqual(['03:00', '10', '03:01', '40', '03:02', '–', '03:03', '0'])
})

test('of a hundred bars at most twelve are labelled, on a phone half of them', () => {
  const bars = Array.from({ length: 100 }, (_, n) => ({ label: `bar ${n}`, value: n }))
  const page = draw({ bars })
  const labels = [...page.matchAll(/<g( class="chart-minor")?>.*?<\/g>/g)]
  expect(labels).toHaveLength(12)
  expect(labels.filter(([, minor]) => minor)).toHaveLength(6)
})

test.each([
  ['no bars', []],
  ['one bar', [{ label: 'a', value: 3 }]],
  ['all zero', [{ label: 'a', value: 0 }]],
  ['all unknown', [{ label: 'a', value: null }]],
  ['below zero', [{ label: 'a', value: -3 }]],
  ['huge', [{ label: 'a', value: 1.7e308 }]],
])('%s: no coordinate that is no number', (_, bars) => {
  const page = draw({ bars })
  expect(page).not.toMatch(/NaN|Infinity|undefined/)
  for (const rect of rects(page)) for (const value of rect) expect(value).toBeGreaterThanOrEqual(0)
})

test('labels of others are text', () => {
  const page = draw({ bars: [{ label: '"><script>alert(1)</script>', value: 3 }] })
  expect(page).not.toContain('<script')
})
