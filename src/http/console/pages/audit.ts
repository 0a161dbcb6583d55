import { ACT_LIST } from '#src/db/acts-list.ts'
import type { SubjectKind } from '#src/model/act.ts'
import { html } from '../html.ts'
import { narrowed } from '../page.ts'
import { listPage } from '../parts/list-page.ts'
import { ledgerTabs } from '../parts/tabs.ts'
import { ago, foreign } from '../parts/values.ts'

const PATH = '/ledger/audit'

export const audit = listPage({
  path: PATH,
  section: 'ledger',
  title: 'Audit',
  list: () => ACT_LIST,
  beside: ({ query, target: { timezone } }) => ({
    above: ledgerTabs(PATH),
    columns: [
      { head: 'When', cell: ({ at }) => ago(at, timezone) },
      {
        head: 'Who',
        cell: ({ actor }) => html`<a href="${narrowed(PATH, query, { actor })}">${foreign(actor)}</a>`,
      },
      'did',
      {
        head: 'Target',
        cell: ({ subjectKind, subject }) =>
          html`<a href="${PLACES[subjectKind](subject)}">${subjectKind} ${foreign(subject)}</a>`,
      },
      'rows',
      'account',
      // A reason has a thousand characters at most: it is shown whole.
      {
        head: 'Because',
        cell: ({ because }) =>
          because === null ? foreign(null, 'no reason given') : html`<bdi>${because}</bdi>`,
      },
    ],
  }),
})

/** Where to look at what it was done to. */
const PLACES: Readonly<Record<SubjectKind, (subject: string) => string>> = {
  run: subject => `/ledger/runs/${encodeURIComponent(subject)}`,
  import: subject => `/imports/${encodeURIComponent(subject)}`,
  event: () => '/ledger/events',
  schedule: () => '/ledger/schedules',
}
