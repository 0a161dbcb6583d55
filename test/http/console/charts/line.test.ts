import { expect, test } from 'vitest'
import { type LineChart, lineChart } from '#src/http/console/charts/line.ts'

const FROM = Date.parse('2026-11-20T03:00:00Z')
const at = (minutes: number) => new Date(FROM + minutes * 60_000)
const CHART: LineChart = {
  id: 'calls',
  title: 'Calls',
  unit: 'calls per minute',
  span: { from: at(0), to: at(60) },
  timezone: 'Europe/Berlin',
  series: [{ name: 'list', points: [0, 20, 40, 60].map(n => ({ at: at(n), value: n / 2 })) }],
}

const draw = (chart: Partial<LineChart>) => String(lineChart({ ...CHART, ...chart }))
const paths = (page: string) => [...page.matchAll(/<path[^>]* d="([^"]*)"/g)].map(match => match[1])

test('a line goes through its points, from the left end of the span to the right one', () => {
  expect(paths(draw({}))).toEqual(['M0 160L333.3 106.7L666.7 53.3L1000 0'])
})

test('values stand beside their lines, the highest on top, and times beneath the lowest', () => {
  const page = draw({})
  const values = [...page.matchAll(/<text x="42" y="([\d.]+)" text-anchor="end">(\d+)</g)]
  expect(values.map(([, y, label]) => [label, y])).toEqual([
    ['0', '180'],
    ['10', '126.7'],
    ['20', '73.3'],
    ['30', '20'],
  ])
  const lines = [...page.matchAll(/<line class="chart-(base|grid)"[^>]* y1="([\d.]+)" y2="([\d.]+)"/g)]
  expect(lines.map(([, kind, y1, y2]) => `${kind} ${y1} ${y2}`)).toEqual([
    'base 176 176',
    'grid 122.7 122.7',
    'grid 69.3 69.3',
    'grid 16 16',
  ])
  expect(page).toContain('<svg y="16" width="100%" height="160" viewBox="0 0 1000 160"')
  expect(page).toContain('<line class="chart-tick" x1="50%" x2="50%" y1="176" y2="180"/>')
})

test('a chart names its unit and its zone, and says in words what can be seen', () => {
  const page = draw({ limit: { name: 'limit', value: 50 } })
  expect(page).toContain('<figcaption>Calls <span class="quiet">(calls per minute)</span></figcaption>')
  expect(page).toContain('role="img" aria-labelledby="calls-title"')
  expect(page).toContain(
    '<title id="calls-title">Calls (calls per minute). list: last 30, highest 30. limit: 50.</title>',
  )
  expect(page).toContain('Times in Europe/Berlin.')
  expect(page).toContain('04:30</text>')
})

test('the limit is in the chart even if no value comes near it', () => {
  const page = draw({ limit: { name: 'limit', value: 1_000 } })
  expect(page).toMatch(/<line class="chart-limit" x1="0" x2="100%" y1="0" y2="0"\/>/)
  expect(page).toContain('>1,000</text>')
})

test('the table has a row for each time, in their order, and a column for each line', () => {
  const series = [
    { name: 'list', points: [{ at: at(30), value: 1 }] },
    {
      name: 'import',
      points: [
        { at: at(30), value: 3 },
        { at: at(0), value: 2 },
      ],
    },
  ]
  const page = draw({ series })
  const cells = [...page.matchAll(/<td[^>]*>(.*?)<\/td>/g)].map(([, cell]) => cell?.replace(/<[^>]*>/g, ''))
  expect(cells).toEqual(['2026-11-20 04:00:00', '–', '2', '2026-11-20 04:30:00', '1', '3'])
  expect(page).toContain('<details id="calls-numbers">')
  expect(page.match(/<li>/g)).toHaveLength(2)
})

test('what is not known is a gap, and a point between two gaps is a dot', () => {
  const values = [1, 2, null, 4, Number.NaN, 6, 7]
  const page = draw({
    series: [{ name: 'a', points: values.map((value, n) => ({ at: at(n * 10), value })) }],
  })
  expect(paths(page)[0]?.match(/M/g)).toHaveLength(3)
  expect(page.match(/<circle/g)).toHaveLength(1)
  expect(page).toContain('cx="50%"')
})

test.each([
  ['no series', []],
  ['no points', [{ name: 'a', points: [] }]],
  ['one point', [{ name: 'a', points: [{ at: at(30), value: 5 }] }]],
  ['all zero', [{ name: 'a', points: [0, 30].map(n => ({ at: at(n), value: 0 })) }]],
  ['all unknown', [{ name: 'a', points: [0, 30].map(n => ({ at: at(n), value: null })) }]],
  ['huge', [{ name: 'a', points: [0, 30].map(n => ({ at: at(n), value: n * 1e307 })) }]],
  ['below zero', [{ name: 'a', points: [0, 30].map(n => ({ at: at(n), value: -n })) }]],
  ['outside the span', [{ name: 'a', points: [-90, 90].map(n => ({ at: at(n), value: n })) }]],
])('%s is drawn without a coordinate that is no number', (_, series) => {
  for (const span of [CHART.span, { from: at(30), to: at(30) }]) {
    const page = draw({ series, span })
    expect(page).not.toMatch(/NaN|Infinity|undefined/)
    for (const path of paths(page)) expect(path).toMatch(/^(M[\d.]+ [\d.]+(L[\d.]+ [\d.]+)*)*$/)
  }
})

test('names of others are text', () => {
  const name = '"><script>alert(1)</script>'
  const page = draw({
    title: name,
    unit: name,
    series: [
      { name, points: [] },
      { name, points: [] },
    ],
    limit: { name, value: 1 },
  })
  expect(page).not.toContain('<script')
})
