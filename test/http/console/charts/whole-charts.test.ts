import { expect, test } from 'vitest'
import { barChart } from '#src/http/console/charts/bars.ts'
import { ganttChart } from '#src/http/console/charts/gantt.ts'
import { heatChart } from '#src/http/console/charts/heat.ts'
import { lineChart } from '#src/http/console/charts/line.ts'
import { html } from '#src/http/console/html.ts'

/* The whole of one small chart of each kind: the places of its parts, its words, and its numbers as a table. */

const FROM = Date.parse('2026-11-20T03:00:00Z')
const at = (minutes: number) => new Date(FROM + minutes * 60_000)

const CHARTS = {
  line: lineChart({
    id: 'use',
    title: 'Use',
    unit: 'calls',
    span: { from: at(0), to: at(3) },
    timezone: 'Europe/Berlin',
    series: [
      {
        name: 'a',
        points: [
          { at: at(0), value: 1 },
          { at: at(1), value: null },
          { at: at(3), value: 4 },
        ],
      },
      {
        name: 'b',
        points: [
          { at: at(0), value: 2 },
          { at: at(3), value: 3 },
        ],
      },
    ],
    limit: { name: 'most', value: 2 },
  }),
  heat: heatChart({
    id: 'when',
    title: 'When',
    unit: 'episodes',
    head: 'Weekday',
    columns: ['0', '12'],
    rows: [
      { name: 'Mon', counts: [0, 4] },
      { name: 'Tue', counts: [100] },
    ],
    note: html`Hours <b>here</b>.`,
  }),
  bars: barChart({
    id: 'rate',
    title: 'Rate',
    unit: 'rows',
    head: 'Minute',
    bars: [
      { label: 'a', value: 1 },
      { label: 'b', value: 2 },
      { label: 'c', value: null },
    ],
    isWhole: true,
    note: html`Minutes <b>here</b>.`,
  }),
  gantt: ganttChart({
    id: 'fired',
    title: 'Fired',
    unit: 'a bar is a firing',
    span: { from: at(0), to: at(10) },
    moment: at(5),
    timezone: 'Europe/Berlin',
    rows: [
      {
        label: html`<b>slow</b>`,
        summary: 'slow: 2 firings',
        bars: [
          { from: at(0), to: at(1) },
          { from: at(8), to: null },
        ],
        blind: [{ from: at(2), to: at(4) }],
        marks: [
          { at: at(1), kind: 'on', words: 'added' },
          { at: at(2), kind: 'off', words: 'disabled' },
          { at: at(3), kind: 'changed', words: 'edited' },
        ],
      },
    ],
    numbers: html`<p>none</p>`,
  }),
}

const MARKUP: Readonly<Record<keyof typeof CHARTS, string>> = {
  line: `<figure class="chart">
<figcaption>Use <span class="quiet">(calls)</span></figcaption>
<div class="chart-plot">
<svg class="chart-values" width="48" height="200" aria-hidden="true"><text x="42" y="180" text-anchor="end">0</text><text x="42" y="140" text-anchor="end">1</text><text x="42" y="100" text-anchor="end">2</text><text x="42" y="60" text-anchor="end">3</text><text x="42" y="20" text-anchor="end">4</text></svg>
<svg class="chart-area" width="100%" height="200" role="img" aria-labelledby="use-title">
<title id="use-title">Use (calls). a: last 4, highest 4. b: last 3, highest 3. most: 2.</title>
<line class="chart-base" x1="0" x2="100%" y1="176" y2="176"/><line class="chart-grid" x1="0" x2="100%" y1="136" y2="136"/><line class="chart-grid" x1="0" x2="100%" y1="96" y2="96"/><line class="chart-grid" x1="0" x2="100%" y1="56" y2="56"/><line class="chart-grid" x1="0" x2="100%" y1="16" y2="16"/>
<svg y="16" width="100%" height="160" viewBox="0 0 1000 160" preserveAspectRatio="none"><path class="chart-line series-1" d="M0 120M1000 0"/><path class="chart-line series-2" d="M0 80L1000 40"/></svg>
<svg y="16" width="100%" height="160" class="chart-overlay"><circle class="chart-dot series-1" cx="0%" cy="120" r="3"/><circle class="chart-dot series-1" cx="100%" cy="0" r="3"/><line class="chart-limit" x1="0" x2="100%" y1="80" y2="80"/><text class="chart-limit-name" x="100%" y="76" text-anchor="end">most</text></svg>
<g><line class="chart-tick" x1="0%" x2="0%" y1="176" y2="180"/><text x="0%" y="194" text-anchor="middle">04:00</text></g><g class="chart-minor"><line class="chart-tick" x1="33.33%" x2="33.33%" y1="176" y2="180"/><text x="33.33%" y="194" text-anchor="middle">04:01</text></g><g><line class="chart-tick" x1="66.67%" x2="66.67%" y1="176" y2="180"/><text x="66.67%" y="194" text-anchor="middle">04:02</text></g><g class="chart-minor"><line class="chart-tick" x1="100%" x2="100%" y1="176" y2="180"/><text x="100%" y="194" text-anchor="middle">04:03</text></g>
</svg>
</div>
<ul class="chart-legend"><li><svg width="30" height="10" aria-hidden="true"><line class="chart-line series-1" x1="1" x2="29" y1="5" y2="5"/></svg><bdi>a</bdi></li><li><svg width="30" height="10" aria-hidden="true"><line class="chart-line series-2" x1="1" x2="29" y1="5" y2="5"/></svg><bdi>b</bdi></li></ul><p class="quiet">Times in Europe/Berlin.</p>
<details id="use-numbers"><summary>The same numbers as a table</summary>
<div class="table" role="region" aria-label="Use" tabindex="0"><table>
<caption>Use</caption>
<thead><tr><th scope="col">Time</th><th scope="col" class="number">a</th><th scope="col" class="number">b</th></tr></thead>
<tbody><tr><td data-head="Time"><a class="at" href="/at/2026-11-20T03:00:00.000Z"><time datetime="2026-11-20T03:00:00.000Z">2026-11-20 04:00:00</time></a></td><td data-head="a" class="number">1</td><td data-head="b" class="number">2</td></tr>
<tr><td data-head="Time"><a class="at" href="/at/2026-11-20T03:01:00.000Z"><time datetime="2026-11-20T03:01:00.000Z">2026-11-20 04:01:00</time></a></td><td data-head="a" class="number">–</td><td data-head="b" class="number">–</td></tr>
<tr><td data-head="Time"><a class="at" href="/at/2026-11-20T03:03:00.000Z"><time datetime="2026-11-20T03:03:00.000Z">2026-11-20 04:03:00</time></a></td><td data-head="a" class="number">4</td><td data-head="b" class="number">3</td></tr>
</tbody></table></div></details>
</figure>`,
  heat: `<figure class="chart">
<figcaption>When <span class="quiet">(episodes)</span></figcaption>
<div class="chart-plot">
<svg class="chart-values" width="48" height="72" aria-hidden="true"><text x="42" y="16" text-anchor="end">Mon</text><text x="42" y="40" text-anchor="end">Tue</text></svg>
<svg class="chart-area" width="100%" height="72" role="img" aria-labelledby="when-title">
<title id="when-title">When (episodes). The highest: Tue 0, 100.</title>
<g class="heat heat-0"><rect x="0%" y="0" width="50%" height="24"><title>Mon 0: 0</title></rect></g>
<g class="heat heat-1"><rect x="50%" y="0" width="50%" height="24"><title>Mon 12: 4</title></rect><text class="heat-count" x="75%" y="16" text-anchor="middle">4</text></g>
<g class="heat heat-5"><rect x="0%" y="24" width="50%" height="24"><title>Tue 0: 100</title></rect><text class="heat-count" x="25%" y="40" text-anchor="middle">100</text></g>
<g class="heat heat-0"><rect x="50%" y="24" width="50%" height="24"><title>Tue 12: 0</title></rect></g>

<g><line class="chart-tick" x1="25%" x2="25%" y1="48" y2="52"/><text x="25%" y="66" text-anchor="middle">0</text></g><g><line class="chart-tick" x1="75%" x2="75%" y1="48" y2="52"/><text x="75%" y="66" text-anchor="middle">12</text></g>
</svg>
</div>
<ul class="chart-legend"><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-0"><rect width="16" height="16"/></g></svg>0</li><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-1"><rect width="16" height="16"/></g></svg>1–4</li><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-2"><rect width="16" height="16"/></g></svg>5–16</li><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-3"><rect width="16" height="16"/></g></svg>17–36</li><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-4"><rect width="16" height="16"/></g></svg>37–64</li><li><svg width="16" height="16" aria-hidden="true"><g class="heat heat-5"><rect width="16" height="16"/></g></svg>65–100</li></ul><p class="quiet">Hours <b>here</b>.</p>
<details id="when-numbers"><summary>The same numbers as a table</summary>
<div class="table" role="region" aria-label="When" tabindex="0"><table>
<caption>When</caption>
<thead><tr><th scope="col">Weekday</th><th scope="col" class="number">0</th><th scope="col" class="number">12</th></tr></thead>
<tbody><tr><th scope="row">Mon</th><td data-head="0" class="number">0</td><td data-head="12" class="number">4</td></tr>
<tr><th scope="row">Tue</th><td data-head="0" class="number">100</td><td data-head="12" class="number">0</td></tr>
</tbody></table></div></details>
</figure>`,
  bars: `<figure class="chart">
<figcaption>Rate <span class="quiet">(rows)</span></figcaption>
<div class="chart-plot">
<svg class="chart-values" width="48" height="200" aria-hidden="true"><text x="42" y="180" text-anchor="end">0</text><text x="42" y="100" text-anchor="end">1</text><text x="42" y="20" text-anchor="end">2</text></svg>
<svg class="chart-area" width="100%" height="200" role="img" aria-labelledby="rate-title">
<title id="rate-title">Rate (rows). 2 bars. The highest: b, 2.</title>
<line class="chart-base" x1="0" x2="100%" y1="176" y2="176"/><line class="chart-grid" x1="0" x2="100%" y1="96" y2="96"/><line class="chart-grid" x1="0" x2="100%" y1="16" y2="16"/>
<svg y="16" width="100%" height="160" viewBox="0 0 1000 160" preserveAspectRatio="none"><rect class="chart-bar" x="33.3" width="266.7" y="80" height="80"><title>a: 1</title></rect><rect class="chart-bar" x="366.7" width="266.7" y="0" height="160"><title>b: 2</title></rect></svg>
<svg y="16" width="100%" height="160" class="chart-overlay"></svg>
<g><line class="chart-tick" x1="16.67%" x2="16.67%" y1="176" y2="180"/><text x="16.67%" y="194" text-anchor="middle">a</text></g><g class="chart-minor"><line class="chart-tick" x1="50%" x2="50%" y1="176" y2="180"/><text x="50%" y="194" text-anchor="middle">b</text></g><g><line class="chart-tick" x1="83.33%" x2="83.33%" y1="176" y2="180"/><text x="83.33%" y="194" text-anchor="middle">c</text></g>
</svg>
</div>
<p class="quiet">Minutes <b>here</b>.</p>
<details id="rate-numbers"><summary>The same numbers as a table</summary>
<div class="table" role="region" aria-label="Rate" tabindex="0"><table>
<caption>Rate</caption>
<thead><tr><th scope="col">Minute</th><th scope="col" class="number">rows</th></tr></thead>
<tbody><tr><td data-head="Minute"><bdi>a</bdi></td><td data-head="rows" class="number">1</td></tr>
<tr><td data-head="Minute"><bdi>b</bdi></td><td data-head="rows" class="number">2</td></tr>
<tr><td data-head="Minute"><bdi>c</bdi></td><td data-head="rows" class="number">–</td></tr>
</tbody></table></div></details>
</figure>`,
  gantt: `<figure class="chart">
<figcaption>Fired <span class="quiet">(a bar is a firing, times in Europe/Berlin)</span></figcaption>
<div class="gantt-axis" aria-hidden="true"><svg width="100%" height="24"><g><line class="chart-tick" x1="0%" x2="0%" y1="0" y2="4"/><text x="0%" y="18" text-anchor="middle">04:00</text></g><g class="chart-minor"><line class="chart-tick" x1="10%" x2="10%" y1="0" y2="4"/><text x="10%" y="18" text-anchor="middle">04:01</text></g><g><line class="chart-tick" x1="20%" x2="20%" y1="0" y2="4"/><text x="20%" y="18" text-anchor="middle">04:02</text></g><g class="chart-minor"><line class="chart-tick" x1="30%" x2="30%" y1="0" y2="4"/><text x="30%" y="18" text-anchor="middle">04:03</text></g><g><line class="chart-tick" x1="40%" x2="40%" y1="0" y2="4"/><text x="40%" y="18" text-anchor="middle">04:04</text></g><g class="chart-minor"><line class="chart-tick" x1="50%" x2="50%" y1="0" y2="4"/><text x="50%" y="18" text-anchor="middle">04:05</text></g><g><line class="chart-tick" x1="60%" x2="60%" y1="0" y2="4"/><text x="60%" y="18" text-anchor="middle">04:06</text></g><g class="chart-minor"><line class="chart-tick" x1="70%" x2="70%" y1="0" y2="4"/><text x="70%" y="18" text-anchor="middle">04:07</text></g><g><line class="chart-tick" x1="80%" x2="80%" y1="0" y2="4"/><text x="80%" y="18" text-anchor="middle">04:08</text></g><g class="chart-minor"><line class="chart-tick" x1="90%" x2="90%" y1="0" y2="4"/><text x="90%" y="18" text-anchor="middle">04:09</text></g><g><line class="chart-tick" x1="100%" x2="100%" y1="0" y2="4"/><text x="100%" y="18" text-anchor="middle">04:10</text></g></svg></div>
<ol class="gantt"><li><div class="gantt-label"><b>slow</b></div><svg class="gantt-row" width="100%" height="22" role="img" aria-labelledby="fired-0"><title id="fired-0">slow: 2 firings</title><svg width="100%" height="22" viewBox="0 0 1000 22" preserveAspectRatio="none"><path class="gantt-grid" d="M0 0v22M100 0v22M200 0v22M300 0v22M400 0v22M500 0v22M600 0v22M700 0v22M800 0v22M900 0v22M1000 0v22"/><path class="gantt-bar" d="M0 5h100v12H0z"/><path class="gantt-bar gantt-open" d="M800 5h200v12H800z"/><path class="gantt-blind" d="M200 0h200v22H200z"/><path class="gantt-moment" d="M500 0v22"/></svg><svg class="gantt-mark" x="10%" y="11"><path d="M0-6 6 5H-6Z"><title>added</title></path></svg><svg class="gantt-mark" x="20%" y="11"><path d="M-5-5H5V5H-5Z"><title>disabled</title></path></svg><svg class="gantt-mark" x="30%" y="11"><path d="M0-6 6 0 0 6-6 0Z"><title>edited</title></path></svg></svg></li>
</ol>
<ul class="chart-legend"><li><svg width="26" height="14" aria-hidden="true"><path class="gantt-blind" d="M1 1h24v12h-24z"/></svg>not known: nothing was read</li><li><svg width="26" height="14" aria-hidden="true"><path class="gantt-bar gantt-open" d="M1 1h24v12h-24z"/></svg>still firing</li><li><svg width="26" height="14" aria-hidden="true"><path class="gantt-bar" d="M1 1h24v12h-24z"/></svg>ended</li><li><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path class="gantt-mark" d="M0-6 6 0 0 6-6 0Z"/></svg>edited</li><li><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path class="gantt-mark" d="M-5-5H5V5H-5Z"/></svg>disabled or removed</li><li><svg width="14" height="14" viewBox="-7 -7 14 14" aria-hidden="true"><path class="gantt-mark" d="M0-6 6 5H-6Z"/></svg>added, returned or enabled</li></ul>
<details id="fired-numbers"><summary>The same numbers as a table</summary>
<p>none</p></details>
</figure>`,
}

test.each(Object.entries(MARKUP))('%s', (kind, markup) => {
  expect(`${CHARTS[kind as keyof typeof CHARTS]}`).toBe(markup)
})

test('six lines can be told apart, and the seventh looks like the first', () => {
  const series = Array.from({ length: 8 }, (_, n) => ({ name: `${n}`, points: [{ at: at(1), value: n }] }))
  const span = { from: at(0), to: at(3) }
  const page = `${lineChart({ id: 'i', title: 't', unit: 'u', span, timezone: 'UTC', series })}`
  const styles = (part: string) =>
    [...page.matchAll(new RegExp(`${part} series-(\\d)"`, 'g'))].map(([, n]) => n)
  expect(styles('<path class="chart-line')).toEqual(['1', '2', '3', '4', '5', '6', '1', '2'])
  expect(styles('<circle class="chart-dot')).toEqual(['1', '2', '3', '4', '5', '6', '1', '2'])
  expect(styles('<line class="chart-line')).toEqual(['1', '2', '3', '4', '5', '6', '1', '2'])
})

test('a chart of one line has no legend', () => {
  const series = [{ name: 'a', points: [] }]
  const span = { from: at(0), to: at(3) }
  expect(`${lineChart({ id: 'i', title: 't', unit: 'u', span, timezone: 'UTC', series })}`).not.toContain(
    'chart-legend',
  )
})
