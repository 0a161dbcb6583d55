import { counted, number, share } from '#src/model/counted.ts'
import { duration } from '#src/model/duration.ts'
import { loadNoisyRules } from '#src/reports/firing/noisy.ts'
import { html } from '../html.ts'
import type { Page } from '../page.ts'
import { inventoryLink } from '../parts/changes.ts'
import { firingTabs, periodOf } from '../parts/firing-tabs.ts'
import { historyNote } from '../parts/history-note.ts'
import { PAGE_ROWS } from '../parts/paging.ts'
import { table } from '../parts/table.ts'
import { ago, badge, foreign } from '../parts/values.ts'

const PATH = '/firing/noisy'

/** Which rules began to fire most often. */
export const firingNoisy: Page = {
  path: PATH,
  section: 'firing',
  access: 'read',
  async render(request) {
    const period = periodOf(PATH, request.query)
    const { shown, rules } = await loadNoisyRules(request.reader, period, PAGE_ROWS)
    const others = rules - shown.length
    return {
      title: 'Noisy rules',
      body: html`${await firingTabs(PATH, request)}
<p>A flap is an episode that began within ten minutes of the end of the one before. Night is from 22:00 to 07:00 in the rule’s own time zone.</p>
${table(
  `Rules with the most episodes in the last ${period.words}`,
  [
    { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
    { head: 'Team', cell: ({ team }) => foreign(team) },
    { head: 'Episodes', isNumber: true, cell: ({ episodes }) => number(episodes) },
    { head: 'Flaps', isNumber: true, cell: ({ flaps }) => number(flaps) },
    { head: 'At night', isNumber: true, cell: ({ nightShare }) => share(nightShare, 1) },
    { head: 'Fired for', isNumber: true, cell: ({ firedForMs }) => duration(firedForMs) },
    {
      head: 'Last began',
      cell: ({ lastBegan, isFiring }) =>
        html`<span>${ago(lastBegan, request.target.timezone)}${isFiring ? html` ${badge('bad', 'firing')}` : null}</span>`,
    },
  ],
  shown,
  html`No rule was seen firing in the last ${period.words}.`,
)}
${others > 0 ? html`<p>${counted(others, 'other')} fired too. <code>ferry report rules_noisy</code> shows all of them, and longer periods.</p>` : null}
${await historyNote(request.reader, period.since, request.target.timezone)}`,
    }
  },
}
