import { expect, test } from 'vitest'
import { type GanttChart, type GanttRow, ganttChart } from '#src/http/console/charts/gantt.ts'
import { html } from '#src/http/console/html.ts'

const FROM = Date.parse('2026-11-20T00:00:00Z')
const at = (hours: number) => new Date(FROM + hours * 3_600_000)
const ROW: GanttRow = {
  label: html`<a href="/rules/a/1">latency</a>`,
  summary: 'latency: 1 episode',
  bars: [{ from: at(5), to: at(10) }],
  marks: [],
}
const CHART: GanttChart = {
  id: 'firing',
  title: 'Episodes',
  unit: 'a bar is an episode',
  span: { from: at(0), to: at(10) },
  timezone: 'Asia/Kathmandu',
  rows: [ROW],
  numbers: html`<p>numbers</p>`,
}

const draw = (row: Partial<GanttRow>, chart: Partial<GanttChart> = {}) =>
  String(ganttChart({ ...CHART, rows: [{ ...ROW, ...row }], ...chart }))
const bars = (page: string) =>
  [...page.matchAll(/<path class="(gantt-bar[^"]*)" d="(M\d[^"]*)"/g)].map(m => [m[1], m[2]])

test('a bar goes from its begin to its end, and is cut where the span ends', () => {
  expect(bars(draw({}))).toEqual([['gantt-bar', 'M500 5h500v12H500z']])
  expect(bars(draw({ bars: [{ from: at(-5), to: at(2) }] }))).toEqual([['gantt-bar', 'M0 5h200v12H0z']])
  expect(bars(draw({ bars: [{ from: at(8), to: at(20) }] }))).toEqual([['gantt-bar', 'M800 5h200v12H800z']])
  expect(bars(draw({ bars: [{ from: at(-9), to: at(-1) }] }))).toEqual([])
})

test('what is not known covers the bars and is named; the moment is a line through each row', () => {
  const page = draw(
    {
      blind: [
        { from: at(-3), to: at(2) },
        { from: at(9), to: null },
      ],
    },
    { moment: at(5) },
  )
  expect(page).toContain('<path class="gantt-blind" d="M0 0h200v22H0zM900 0h100v22H900z"/>')
  expect(page.indexOf('gantt-blind')).toBeGreaterThan(page.indexOf('gantt-bar'))
  expect(page).toContain('not known: nothing was read</li>')
  expect(page).toContain('<path class="gantt-moment" d="M500 0v22"/>')
  expect(draw({})).not.toMatch(/gantt-blind|gantt-moment|not known/)
})

test('what has not ended goes on to the end of the span, and looks different', () => {
  const page = draw({ bars: [{ from: at(9), to: null }] })
  expect(bars(page)[0]).toEqual(['gantt-bar gantt-open', 'M900 5h100v12H900z'])
  expect(page).toContain('still firing</li>')
  expect(page).not.toContain('ended</li>')
  const both = draw({
    bars: [
      { from: at(9), to: null },
      { from: at(1), to: at(2) },
    ],
  })
  expect(both).toContain('ended</li>')
})

test('marks stand at their time, have a shape for each kind, and the legend explains those that are there', () => {
  const marks = [
    { at: at(5), kind: 'changed', words: 'edited by Ada' },
    { at: at(2.5), kind: 'off', words: 'disabled' },
  ] as const
  const page = draw({ marks })
  expect(page).toMatch(/x="50%" y="11"><path d="M0-6 6 0 0 6-6 0Z"><title>edited by Ada/)
  expect(page).toMatch(/x="25%" y="11"><path d="M-5-5H5V5H-5Z"><title>disabled/)
  expect(page).toContain('disabled or removed</li>')
  expect(page).not.toContain('added, returned')
})

test('each row says in words what it shows, and the zone of the times is named', () => {
  const page = draw({})
  expect(page).toContain(
    'role="img" aria-labelledby="firing-0"><title id="firing-0">latency: 1 episode</title>',
  )
  expect(page).toContain('times in Asia/Kathmandu')
  expect(page).toMatch(/06:00<\/text>/)
  expect(page).toContain('<details id="firing-numbers">')
})

test('no rows, no length and times far away: no coordinate that is no number', () => {
  const wild = [
    { from: new Date(0), to: new Date(8.64e15) },
    { from: at(3), to: at(3) },
    { from: at(30), to: null },
  ]
  for (const span of [CHART.span, { from: at(3), to: at(3) }, { from: at(9), to: at(3) }]) {
    expect(draw({ bars: wild }, { span })).not.toMatch(/NaN|Infinity|undefined/)
    expect(draw({ bars: [] }, { span, rows: [] })).not.toMatch(/NaN|Infinity|undefined/)
  }
})

test('words of others are text', () => {
  const words = '"><script>alert(1)</script>'
  const page = draw(
    { summary: words, marks: [{ at: at(1), kind: 'on', words }] },
    { title: words, unit: words },
  )
  expect(page).not.toContain('<script')
})
