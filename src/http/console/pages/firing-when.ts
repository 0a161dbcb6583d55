import { listFirstReadings } from '#src/inventory/history/history-start.ts'
import { loadBegins } from '#src/reports/firing/firings.ts'
import { heatChart } from '../charts/heat.ts'
import { html } from '../html.ts'
import type { Page } from '../page.ts'
import { firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { historyNote } from '../parts/history-note.ts'
import { nothing } from '../parts/table.ts'
import { time } from '../parts/values.ts'
import { byWeekdayAndHour, HOURS_OF_DAY } from '../parts/weekday-hours.ts'

const PATH = '/firing/when'

/** On which weekdays and at which hours episodes begin. */
export const firingWhen: Page = {
  path: PATH,
  section: 'firing',
  access: 'read',
  async render(request) {
    const { timezone } = request.target
    const period = periodOf(PATH, request.query)
    const [begins, readings] = await Promise.all([
      loadBegins(request.reader, period),
      listFirstReadings(request.reader, 'alert-rules', period.account),
    ])
    const first = new Date(Math.min(...readings.map(({ at }) => at.getTime())))
    return {
      title: 'Weekday and hour',
      body: html`${await firingTabs(PATH, request)}
${
  begins.length === 0
    ? nothing(
        'When episodes begin',
        html`No episode was seen to begin in the last ${period.words}. <a href="/">Now</a> shows whether the alert rules are fresh.`,
      )
    : heatChart({
        id: 'when',
        title: `When the episodes of the last ${period.words} began`,
        unit: 'episodes',
        head: 'Weekday',
        rows: byWeekdayAndHour(begins, timezone, (one, other) => one + other),
        columns: HOURS_OF_DAY,
        note: html`Each cell is an hour in ${timezone}: 8 is from 08:00 to 09:00.${first > period.since ? html` Nothing was read before ${time(first, timezone)}: until then, 0 means not known.` : null}`,
      })
}
${await historyNote(request.reader, period.since, timezone)}`,
    }
  },
}
