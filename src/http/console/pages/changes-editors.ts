import { ACCOUNT_OF_PAGE, list, partOf } from '#src/db/list.ts'
import { RULE_LIST } from '#src/inventory/history/inventory-lists.ts'
import { loadEditors } from '#src/reports/editors.ts'
import { html } from '../html.ts'
import { href } from '../page.ts'
import { personLink } from '../parts/changes.ts'
import { historyNote } from '../parts/history-note.ts'
import { listPage } from '../parts/list-page.ts'

/** The periods, in days. The report looks at each edit: of more than 30 days, it takes longer than a page may. */
const DAYS = { '7d': 7, '24h': 1 } as const

function since(period: keyof typeof DAYS | undefined): Date {
  return new Date(Date.now() - (period ? DAYS[period] : 30) * 86_400_000)
}

/** Who edits the most rules. */
const EDITORS = list({
  caption: 'People by number of edits',
  filters: {
    account: ACCOUNT_OF_PAGE,
    folder: RULE_LIST.filters.folder,
    period: {
      kind: 'choice',
      values: ['7d', '24h'],
      words: { '7d': '7 days', '24h': '24 hours' },
      any: '30 days',
      label: 'The last',
    },
  },
  order: ['count', 'text', 'number'],
  async load(pool, { filter: { period, ...filter }, after, limit }) {
    const found = await loadEditors(pool, { ...filter, since: since(period) }, after, limit + 1)
    return partOf(found, limit, ({ edits, account, id }) => [edits, account, id])
  },
  columns: {
    person: row => row.name,
    id: row => row.id,
    account: row => row.account,
    edits: row => row.edits,
    folders: row => row.folders,
    'last edit': row => row.lastEdit,
  },
  none: 'No edit of a rule was seen in that time.',
})

export const editors = listPage({
  path: '/changes/editors',
  section: 'changes',
  title: 'Who edits most',
  list: () => EDITORS,
  beside: async ({ reader, target: { timezone } }, { filter: { folder, period } }) => ({
    above: html`<p>Edits of alert rules that were known before. A name leads to what the person changed. <code>ferry report edits_by_person --since 90d</code> looks further back.</p>`,
    columns: [
      {
        head: 'Person',
        cell: ({ name, account }) =>
          personLink(name, by =>
            href('/changes', { by, account, folder: folder?.toString(), since: period ?? '30d' }),
          ),
      },
      'account',
      'edits',
      'folders',
      'last edit',
    ],
    below: await historyNote(reader, since(period), timezone),
  }),
})
