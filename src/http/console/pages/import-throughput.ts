import type { ThroughputMinute } from '#src/imports/reporting/throughput.ts'
import { number } from '#src/model/counted.ts'
import { lineChart } from '../charts/line.ts'
import { type Html, html } from '../html.ts'
import { foreign } from '../parts/values.ts'

const MINUTE_MS = 60_000
const MINUTES = 60

/** The calls of the last hour against the limit. */
export function throughputSection(
  account: string,
  minutes: readonly ThroughputMinute[],
  timezone: string,
): Html {
  return html`<section><h2>Calls of the last hour</h2>
${minutes.length > 0 ? chartOf(minutes, timezone) : html`<p>No import of account ${foreign(account)} has made a call in the last hour.</p>`}</section>`
}

function chartOf(minutes: readonly ThroughputMinute[], timezone: string): Html {
  const calls = new Map(minutes.map(({ minute, calls }) => [minute.getTime(), calls]))
  const last = Math.floor(Date.now() / MINUTE_MS) * MINUTE_MS
  const points = Array.from({ length: MINUTES }, (_, index) => {
    const at = last - (MINUTES - 1 - index) * MINUTE_MS
    return { at: new Date(at), value: calls.get(at) ?? 0 }
  })
  const allowed = Math.max(...minutes.map(minute => minute.allowed ?? 0))
  const rows = minutes.reduce((sum, minute) => sum + minute.rows, 0)
  return html`${lineChart({
    id: 'throughput',
    title: 'Calls of all imports of the account, minute by minute',
    unit: 'calls a minute',
    span: { from: new Date(last - (MINUTES - 1) * MINUTE_MS), to: new Date(last) },
    timezone,
    series: [{ name: 'calls', points }],
    limit: allowed > 0 ? { name: 'limit', value: allowed } : null,
    format: number,
  })}<p>The platform accepted ${number(rows)} rows with them.</p>`
}
