import { number } from '#src/model/counted.ts'
import { type CronLoad, loadCronLoad } from '#src/reports/firing/cron-load.ts'
import { barChart } from '../charts/bars.ts'
import { heatChart } from '../charts/heat.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { table } from '../parts/table.ts'
import { time } from '../parts/values.ts'
import { byWeekdayAndHour, HOURS_OF_DAY } from '../parts/weekday-hours.ts'

const PATH = '/firing/load'
const MAX_WORST = 10

/** In which minutes the schedules of the rules cause most evaluations. */
export const firingLoad: Page = {
  path: PATH,
  section: 'firing',
  access: 'read',
  async render(request) {
    const { accounts } = request.target
    const account = periodOf(PATH, request.query).account ?? accounts[0] ?? ''
    const load = await loadCronLoad(request.reader, account, MAX_WORST)
    return {
      title: 'Load by minute',
      body: html`${firingTabs(PATH, request)}
${load ? loadOf(account, load, request.target.timezone) : html`<div class="empty"><p class="caption">Load by minute</p><p>There is no enabled rule of <bdi>${account}</bdi> whose schedule can be read. <code>ferry sync alert-rules</code> reads the rules now.</p></div>`}`,
    }
  },
}

function loadOf(account: string, load: CronLoad, timezone: string): Html {
  const { average, quarters, minutes, worst } = load
  const highest = worst[0]?.evaluations ?? 0
  const short = (value: number) => number(Math.round(value * 10) / 10)
  return html`<p>The enabled rules of <bdi>${account}</bdi> cause ${number(highest)} evaluations in the worst minute of this week, and ${short(average)} in a minute on average, by <code>cron_pattern</code> and <code>timezone</code>.</p>
<p>Rules with <code>*/15 * * * *</code> meet in the same minutes. With <code>7-59/15 * * * *</code>, a rule is evaluated as often, at other minutes.</p>
${barChart({
  id: 'minutes',
  title: 'The worst of each minute of the hour',
  unit: 'evaluations in a minute',
  head: 'Minute of the hour',
  bars: minutes.map((value, minute) => ({ label: `:${`${minute}`.padStart(2, '0')}`, value })),
  isWhole: true,
  note: html`Minutes of an hour in UTC, the highest of any hour of this week.`,
})}
${heatChart({
  id: 'load',
  title: 'The worst minute of each hour',
  unit: 'evaluations in a minute',
  head: 'Weekday',
  rows: byWeekdayAndHour(quarters, timezone, Math.max),
  columns: HOURS_OF_DAY,
  note: html`Hours of this week in ${timezone}: 8 is from 08:00 to 09:00. The week begins on Monday at 00:00 UTC.`,
})}
${table(
  'The worst minutes of this week',
  [
    { head: 'Minute', cell: ({ at }) => time(at, timezone) },
    { head: 'Evaluations', isNumber: true, cell: ({ evaluations }) => number(evaluations) },
  ],
  worst,
  html`There are none.`,
)}`
}
