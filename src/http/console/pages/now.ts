import { loadFreshness } from '#src/reports/freshness.ts'
import { html } from '../html.ts'
import type { Page } from '../page.ts'
import { table } from '../parts/table.ts'
import { badge, foreign } from '../parts/values.ts'

const now: Page = {
  path: '/',
  section: 'now',
  access: 'read',
  async render({ reader }) {
    const inventories = await loadFreshness(reader)
    return {
      title: 'Now',
      refreshEveryMs: 10_000,
      body: table(
        'Freshness',
        [
          { head: 'Account', cell: row => foreign(row.account) },
          { head: 'Inventory', cell: row => row.inventory },
          {
            head: 'State',
            cell: row =>
              badge(row.state === 'fresh' ? 'good' : 'bad', row.state, `${row.inventory} of ${row.account}`),
          },
        ],
        inventories,
        html`No inventory is promised or read yet.`,
      ),
    }
  },
}

export const NOW_PAGES: readonly Page[] = [now]
