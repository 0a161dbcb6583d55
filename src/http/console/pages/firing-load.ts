import { counted, number } from '#src/model/counted.ts'
import { type CronLoad, loadCronLoad } from '#src/reports/firing/cron-load.ts'
import { barChart } from '../charts/bars.ts'
import { heatChart } from '../charts/heat.ts'
import { type Html, html } from '../html.ts'
import type { Page } from '../page.ts'
import { firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { nothing, table } from '../parts/table.ts'
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
      body: html`${await firingTabs(PATH, request, account)}
${load ? loadOf(account, load, request.target.timezone) : nothing('Load by minute', html`Account <bdi>${account}</bdi> has no enabled rule whose schedule can be read. <code>ferry sync alert-rules</code> reads the rules now.`)}`,
    }
  },
}

function loadOf(account: string, load: CronLoad, timezone: string): Html {
  const { average, quarters, minutes, worst } = load
  const highest = worst[0]?.evaluations ?? 0
  const short = (value: number) => number(Math.round(value * 10) / 10)
  return html`<p>By their <code>cron_pattern</code> and <code>timezone</code>, the enabled rules of <bdi>${account}</bdi> cause ${counted(highest, 'evaluation')} in the busiest minute of this week, and ${short(average)} per minute on average.</p>
<p>Rules with <code>*/15 * * * *</code> are all evaluated in the same minutes. With <code>7-59/15 * * * *</code>, a rule is evaluated as often, in other minutes.</p>
${barChart({
  id: 'minutes',
  title: 'Load by minute of the hour',
  unit: 'evaluations in a minute',
  head: 'Minute of the hour',
  bars: minutes.map((value, minute) => ({ label: `:${`${minute}`.padStart(2, '0')}`, value })),
  isWhole: true,
  note: html`Minutes in UTC. Each bar is the highest of any hour of this week.`,
})}
${heatChart({
  id: 'load',
  title: 'Busiest minute of each hour',
  unit: 'evaluations in a minute',
  head: 'Weekday',
  rows: byWeekdayAndHour(quarters, timezone, Math.max),
  columns: HOURS_OF_DAY,
  note: html`Hours of this week in ${timezone}: 8 is from 08:00 to 09:00. The week begins on Monday at 00:00 UTC.`,
})}
${table(
  'Busiest minutes of this week',
  [
    { head: 'Minute', cell: ({ at }) => time(at, timezone) },
    { head: 'Evaluations', isNumber: true, cell: ({ evaluations }) => number(evaluations) },
  ],
  worst,
  html`None.`,
)}`
}
