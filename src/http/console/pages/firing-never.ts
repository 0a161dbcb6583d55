import { ACCOUNT_OF_PAGE, list, partOf } from '#src/db/list.ts'
import { RULE_LIST } from '#src/inventory/history/inventory-lists.ts'
import { loadNeverFired } from '#src/reports/firing/never-fired.ts'
import { html } from '../html.ts'
import { narrowed } from '../page.ts'
import { inventoryLink } from '../parts/changes.ts'
import { firingPages } from '../parts/firing-tabs.ts'
import { historyNote } from '../parts/history-note.ts'
import { latenessNote } from '../parts/lateness-note.ts'
import { listPage } from '../parts/list-page.ts'

const PATH = '/firing/never'

/** The enabled rules that were never seen firing. */
const NEVER_FIRED = list({
  caption: 'Rules that never fired, by id',
  filters: { account: ACCOUNT_OF_PAGE, folder: RULE_LIST.filters.folder },
  order: ['number', 'text'],
  async load(pool, { filter, after, limit }) {
    const found = await loadNeverFired(pool, filter, after, limit + 1)
    return partOf(found, limit, ({ id, account }) => [id, account])
  },
  columns: {
    rule: row => row.name,
    id: row => row.id,
    account: row => row.account,
    folder: row => row.folder,
    team: row => row.team,
    'first seen': row => row.firstSeen,
    'observed for': row => ({ ms: row.observedMs }),
    'last edited by': row => row.updatedBy,
  },
  none: 'There is no enabled rule that never fired.',
})

export const firingNever = listPage({
  path: PATH,
  section: 'firing',
  title: 'Never fired',
  list: () => NEVER_FIRED,
  beside: async request => ({
    above: html`${firingPages(PATH, request)}
${await latenessNote(request, ['alert-rules'])}
<p>Enabled rules that were never seen firing, and for how long they were there and enabled, also while nothing was read. An alert that began and ended between two polls was not seen.</p>`,
    columns: [
      { head: 'Rule', cell: rule => inventoryLink({ ...rule, resource: 'alert-rules' }) },
      {
        head: 'Folder',
        cell: ({ folder }) => html`<a href="${narrowed(PATH, request.query, { folder })}">${folder}</a>`,
      },
      'team',
      'first seen',
      'observed for',
      'last edited by',
    ],
    below: await historyNote(request.reader, undefined, request.target.timezone),
  }),
})
